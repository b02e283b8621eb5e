// Features that need JavaScript, see pages/ui/browser.py. The default function runs again whenever `data` changes.

// Streamlit gives screen readers the Markdown of a label: "*More about Brazil \(1985\)*", "Film :small[of this set]".
const MARKDOWN = '[aria-label*="\\\\"], [aria-label*=":small["], [aria-label*=":gray["], [aria-label^="*"]'
const LISTS = ".st-key-sequence, .st-key-cards, .st-key-picks:not(:has(.st-key-cards)), .st-key-shelf-cards, .st-key-found, .st-key-near"
const focusContent = () => document.getElementById("stMain")?.focus({ preventScroll: true }) // as Streamlit's link to the content

export default function ({ data, setTriggerValue }) {
  if (data.task === "enter") return reportEnter(data.box, setTriggerValue)
  if (data.task === "focus") return focusWidget(data)
  const state = (window.nextreel ??= observe())
  if (state.path !== location.pathname) closeNavigation()
  if (data.target && state.target !== data.target && innerWidth < 768) // on a phone, most elements of the tour are below the window
    setTimeout(() => document.querySelector(data.target)?.scrollIntoView({ behavior: "smooth", block: "nearest" }), 300)
  document.documentElement.lang = data.language
  document.querySelector("[data-testid=stSkipToContent]")?.replaceChildren(data.skip)
  if (data.tourClosed) document.cookie = "nextreel_tour=seen; path=/; max-age=31536000; SameSite=Lax"
  Object.assign(state, { path: location.pathname, target: data.target })
}

function reportEnter(box, setTriggerValue) {
  const listen = ({ key, isComposing, target }) => {
    if (key !== "Enter" || isComposing || !target.value || !target.closest(`.st-key-${CSS.escape(box)}`)) return
    setTriggerValue("entered", target.value)
    target.select() // the next letter starts a new query, even before the server has cleared the box
  }
  document.addEventListener("keydown", listen)
  return () => document.removeEventListener("keydown", listen)
}

// Several instances of the script get the same request. The last request number is therefore kept in `window`.
function focusWidget({ number, keys }) {
  if (number === (window.nextreelFocus ?? 0)) return
  window.nextreelFocus = number
  const previous = document.activeElement // has the focus until the widget exists, or a popover that contains it opens
  let attemptsLeft = 60 // every 50 ms, because the widget may not exist yet, or may be replaced and lose the focus
  const attempt = () => {
    if (number !== window.nextreelFocus) return
    keys.some((key) => focusIn(`st-key-${key}`, previous))
    if (--attemptsLeft > 0) setTimeout(attempt, 50)
    else if (document.activeElement === document.body) focusContent()
  }
  setTimeout(attempt)
}

function focusIn(className, previous) { // its first enabled input or else button, unless the visitor has moved the focus
  const findEnabled = (tag) => document.querySelector(`.${CSS.escape(className)} ${tag}:not(:disabled)`)
  const target = findEnabled("input") ?? findEnabled("button")
  if (document.activeElement === previous || document.activeElement.contains(target)) target?.focus({ preventScroll: true })
  return target
}

function closeNavigation() { // on a phone, it covers the page and would stay open after a click on a page
  document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  setTimeout(() => document.activeElement.matches("body, [data-testid=stSidebar] *") && focusContent(), 400)
}

function observe() {
  const log = Object.assign(document.createElement("div"), { role: "log", className: "nr-aside" })
  log.dataset.liveAnnouncer = "true" // with this attribute, an open dialog does not hide the log from screen readers
  document.body.append(log)
  let announced = new Set(), hadDialog, lastClass // class of the widget that had the focus before a menu or a dialog opened
  document.addEventListener("focusin", ({ target }) => {
    if (target.role === "menu") target.querySelector("[role=menuitem]")?.focus() // else the first arrow key skips an entry
    else if (!target.closest("[role=dialog], [role=menu], [data-st-overlay-root]"))
      lastClass = target.closest("[class*=st-key-]")?.className.match(/st-key-\S+/)[0]
  })
  const update = () => {
    for (const element of document.querySelectorAll(MARKDOWN))
      element.ariaLabel = element.ariaLabel.replace(/\\(.)|:[a-z-]+\[|[\]*]/g, (_, sign) => sign ?? "")
    for (const list of document.querySelectorAll(LISTS)) { // Streamlit has no list of widgets
      for (const child of list.children) child.role = child.querySelector("button") && "listitem"
      list.role = list.querySelector("button") && "list"
    }
    for (const zone of document.querySelectorAll("[data-testid=stFileUploaderDropzone][role=presentation]")) zone.role = "group" // focusable
    const statuses = [...document.querySelectorAll(".nr-status")] // Streamlit replaces them, so they are no live regions
    const added = statuses.filter((status) => status.textContent && !announced.has(status.outerHTML))
    log.append(...added.map(({ textContent }) => Object.assign(document.createElement("p"), { textContent })))
    announced = new Set(statuses.map((status) => status.outerHTML))
    const hasDialog = document.querySelector("[role=dialog]") !== null
    if (hadDialog && !hasDialog) setTimeout(() => document.activeElement === document.body && focusIn(lastClass), 50)
    hadDialog = hasDialog
  }
  new MutationObserver(update).observe(document.body, { childList: true, subtree: true })
  update()
  return { path: new URL(performance.getEntriesByType("navigation")[0].name).pathname } // the path of the first page; the visitor may have opened another page since
}
