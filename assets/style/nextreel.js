// Features that need JavaScript, see pages/ui/browser.py. Runs again whenever `data` changes.

// Streamlit gives screen readers the Markdown of a label: "*More about Brazil \(1985\)*", "Film :small[of this set]".
const MARKDOWN = '[aria-label*="\\\\"], [aria-label*=":small["], [aria-label*=":gray["], [aria-label^="*"]'
const LISTS = ".st-key-sequence, .st-key-cards, .st-key-picks:not(:has(.st-key-cards)), .st-key-shelf-cards, .st-key-found, .st-key-near"

export default function ({ data, setTriggerValue }) {
  if (data.task === "enter") return reportEnter(data.box, setTriggerValue)
  if (data.task === "focus") return focusWidget(data)
  const state = (window.nextreel ??= observe())
  if (state.path !== location.pathname) closeNavigation()
  if (state.step === null && data.step !== null) document.querySelector(".st-key-tour button")?.focus()
  if (Number.isInteger(state.step) && data.step === null) focusHeading() // the buttons of the tour are gone
  if (data.target && state.step !== data.step) showTarget(data.target)
  document.documentElement.lang = data.language
  document.querySelector("[data-testid=stSkipToContent]")?.replaceChildren(data.skip)
  if (data.seen) document.cookie = "nextreel_tour=seen; path=/; max-age=31536000; SameSite=Lax"
  Object.assign(state, { path: location.pathname, step: data.step })
}

function reportEnter(box, setTriggerValue) {
  const listen = (event) => {
    if (event.key !== "Enter" || event.isComposing || !event.target.value) return
    if (!event.target.closest?.(`.st-key-${CSS.escape(box)}`)) return
    setTriggerValue("entered", event.target.value)
    event.target.select() // the next letter starts a new query, even before the server has cleared the box
  }
  document.addEventListener("keydown", listen)
  return () => document.removeEventListener("keydown", listen)
}

// Several instances of the script get the same request. The last request number is therefore kept in `window`.
function focusWidget({ number, keys }) {
  if (number === (window.nextreelFocus ?? 0)) return
  window.nextreelFocus = number
  let tries = 60 // of 50 ms: the widget may not exist yet, or be replaced and lose the focus
  const attempt = () => {
    if (tries < 0 || number !== window.nextreelFocus) return
    if (tries === 60 || document.activeElement === document.body) keys.some((key) => focusIn(`st-key-${key}`))
    if (--tries > 0) setTimeout(attempt, 50)
    else if (document.activeElement === document.body) focusHeading()
  }
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => (tries = -1), { once: true, capture: true })
  setTimeout(attempt)
}

function focusIn(name) { // focus the first enabled input of a class, or else its first enabled button
  const find = (kind) => document.querySelector(`.${CSS.escape(name)} ${kind}:not(:disabled)`)
  const target = find("input") ?? find("button")
  target?.focus({ preventScroll: true })
  return target
}

// On a phone, the elements of most steps of the tour are below the window.
function showTarget(selector) {
  setTimeout(() => {
    const target = document.querySelector(selector)
    const { top, bottom } = target?.getBoundingClientRect() ?? {}
    if (innerWidth < 768 && (top > innerHeight - 100 || top < 304)) target.scrollIntoView({ behavior: "smooth" }) // 304: below the step
  }, 300) // after the page has been drawn
}

function focusHeading() {
  const heading = document.querySelector("h1")
  heading?.setAttribute("tabindex", "-1")
  heading?.focus({ preventScroll: true })
}

// On a phone the navigation covers the page and would stay open after a page was chosen.
function closeNavigation() {
  if (innerWidth >= 768) return
  document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  setTimeout(() => document.activeElement.matches("body, [data-testid=stSidebar] *") && focusHeading(), 400)
}

function observe() {
  let last, wasOpen // element that had the focus before a menu or a dialog opened; whether a dialog was open
  document.addEventListener("focusin", ({ target }) => {
    if (target.role === "menu") target.querySelector("[role=menuitem]")?.focus() // else the first arrow key skips an entry
    else if (!target.closest("[role=dialog], [role=menu], [data-st-overlay-root]")) last = { element: target, classes: [...(target.closest("[class*=st-key-]")?.classList ?? [])] }
  })
  const returnFocus = () => {
    if (!last || document.activeElement !== document.body) return
    if (last.element.isConnected) last.element.focus()
    else focusIn(last.classes.find((name) => name.startsWith("st-key-")) ?? "none") // an element that replaced it
  }
  const announce = liveRegion()
  const update = () => {
    for (const element of document.querySelectorAll(MARKDOWN))
      element.ariaLabel = element.ariaLabel.replace(/\\(.)|:[a-z-]+\[|[\]*]/g, (_, sign) => sign ?? "")
    for (const list of document.querySelectorAll(LISTS)) { // Streamlit has no list of widgets
      for (const child of list.children) child.role = child.querySelector("button") && "listitem"
      list.role = list.querySelector("button") && "list"
    }
    for (const zone of document.querySelectorAll("[data-testid=stFileUploaderDropzone][role=presentation]")) zone.role = "group" // focusable
    announce()
    const isOpen = document.querySelector("[role=dialog]") !== null
    if (wasOpen && !isOpen) setTimeout(returnFocus, 50)
    wasOpen = isOpen
  }
  new MutationObserver(update).observe(document.body, { childList: true, subtree: true })
  update()
  return { path: new URL(performance.getEntriesByType("navigation")[0].name).pathname } // a visitor may have left this page
}

// Return a function that repeats the text of new .nr-status elements in a live region, which Streamlit would replace.
function liveRegion() {
  const region = Object.assign(document.createElement("div"), { role: "status", className: "nr-aside" })
  region.dataset.liveAnnouncer = "true" // an open dialog hides everything else from screen readers
  document.body.append(region)
  let [known, waiting, timer] = [new Map(), [], 0]
  return () => {
    const messages = new Map([...document.querySelectorAll(".nr-status")].map((element) => [element.outerHTML, element.textContent]))
    const added = [...messages].filter(([html, text]) => text && !known.has(html))
    known = messages
    if (!added.length) return
    waiting.push(...added.map(([_html, text]) => text))
    clearTimeout(timer)
    region.textContent = "" // so that the same text twice is a change, too
    timer = setTimeout(() => (region.textContent = waiting.splice(0).join(" ")), 300)
  }
}
