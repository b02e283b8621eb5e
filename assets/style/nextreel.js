// Features that need JavaScript, see pages/ui/browser.py. Runs again whenever `data` changes.

const COOKIE = "nextreel_tour=seen; path=/; max-age=31536000; SameSite=Lax"
const MARKDOWN = ['\\\\', ":small[", ":gray["].map((sign) => `[aria-label*="${sign}"]`).join(", ") + ', [aria-label^="*"]'
const LISTS = ".st-key-sequence, .st-key-cards, .st-key-picks:not(:has(.st-key-cards)), .st-key-shelf-cards, .st-key-found, .st-key-near"
// Streamlit's drop zone has a name and can have the focus, which the role "presentation" contradicts.
const DROPZONES = "[data-testid=stFileUploaderDropzone][role=presentation]"
const OVERLAY = "[role=dialog], [role=menu], [data-st-overlay-root]"

export default function ({ data, setTriggerValue }) {
  if (data.task === "enter") return reportEnter(data.box, setTriggerValue)
  if (data.task === "focus") return focusWidget(data)
  const state = (window.nextreel ??= observe())
  if (state.path !== location.pathname) closeNavigation()
  if (state.step !== undefined && state.step !== data.step) {
    if (state.step === null) document.querySelector(".st-key-tour button")?.focus()
    else if (data.step === null) focusHeading() // the buttons of the tour are gone
  }
  document.documentElement.lang = data.language
  document.querySelector("[data-testid=stSkipToContent]")?.replaceChildren(data.skip)
  if (data.seen) document.cookie = COOKIE
  state.path = location.pathname
  state.step = data.step
}

function reportEnter(box, setTriggerValue) {
  const listen = (event) => {
    if (event.key !== "Enter" || event.isComposing || !event.target.value) return
    if (event.target.closest?.(`.st-key-${CSS.escape(box)}`)) setTriggerValue("entered", event.target.value)
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
    if (tries === 60 || document.activeElement === document.body)
      keys.some((key) => {
        const widget = document.querySelector(`.st-key-${CSS.escape(key)}`)
        const target = widget?.querySelector("input:not(:disabled)") ?? widget?.querySelector("button:not(:disabled)")
        target?.focus({ preventScroll: true })
        return target
      })
    if (--tries > 0) setTimeout(attempt, 50)
    else if (document.activeElement === document.body) focusHeading()
  }
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => (tries = -1), { once: true, capture: true })
  setTimeout(attempt)
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
  setTimeout(() => { // a hidden navigation loses the focus to the body
    if (document.activeElement.matches("body, [data-testid=stSidebar] *")) focusHeading()
  }, 400)
}

function observe() {
  let last = null // element that had the focus before a menu or a dialog opened
  let open = false
  document.addEventListener("focusin", ({ target }) => {
    // Streamlit focuses the menu itself, from where the first arrow key skips the first entry.
    if (target.getAttribute("role") === "menu") target.querySelector("[role=menuitem]")?.focus()
    else if (!target.closest(OVERLAY)) last = { element: target, key: keyOf(target) }
  })
  const announce = liveRegion()
  const update = () => {
    document.querySelectorAll(MARKDOWN).forEach(removeMarkdown)
    document.querySelectorAll(LISTS).forEach(markList)
    document.querySelectorAll(DROPZONES).forEach((zone) => zone.setAttribute("role", "group"))
    announce()
    const wasOpen = open
    open = document.querySelector("[role=dialog]") !== null
    if (wasOpen && !open) setTimeout(() => returnFocus(last), 50)
  }
  new MutationObserver(update).observe(document.body, { childList: true, subtree: true })
  update()
  // A visitor may choose a page before this script runs for the first time, so use the path of the first request.
  return { path: new URL(performance.getEntriesByType("navigation")[0].name).pathname }
}

// Streamlit gives screen readers the Markdown of a label: "*More about Brazil \(1985\)*", "Film :small[of this set]".
function removeMarkdown(element) {
  const label = element.getAttribute("aria-label")
  element.setAttribute("aria-label", label.replace(/\\(.)|:[a-z-]+\[|[\]*]/g, (_, sign) => sign ?? ""))
}

// Streamlit has no list of widgets: give films with buttons the roles of a list.
function markList(list) {
  const hasButton = (child) => child.querySelector("button")
  const setRole = (element, role) => (role ? element.setAttribute("role", role) : element.removeAttribute("role"))
  for (const child of list.children) setRole(child, hasButton(child) && "listitem")
  setRole(list, [...list.children].some(hasButton) && "list")
}

// Streamlit replaces elements, and a replaced live region stays silent. One region outside of its elements repeats the
// text of new elements of class nr-status. Returns the function that looks for them.
function liveRegion() {
  const region = document.createElement("div")
  region.setAttribute("role", "status")
  region.dataset.liveAnnouncer = "true" // an open dialog hides everything else from screen readers
  region.className = "nr-aside"
  document.body.append(region)
  let known = new Set()
  let waiting = []
  let timer = 0
  return () => {
    const messages = [...document.querySelectorAll(".nr-status")]
    const added = messages.filter((message) => message.textContent && !known.has(message.outerHTML))
    known = new Set(messages.map((message) => message.outerHTML))
    if (!added.length) return
    waiting.push(...added.map((message) => message.textContent))
    clearTimeout(timer)
    region.textContent = "" // so that the same text twice is a change, too
    timer = setTimeout(() => (region.textContent = waiting.splice(0).join(" ")), 300)
  }
}

function keyOf(element) {
  return [...(element.closest("[class*=st-key-]")?.classList ?? [])].find((name) => name.startsWith("st-key-"))
}

// After a dialog the focus returns to its element, or to the element that replaced it.
function returnFocus(last) {
  if (!last || document.activeElement !== document.body) return
  if (last.element.isConnected) last.element.focus()
  else if (last.key) document.querySelector(`.${CSS.escape(last.key)} button, .${CSS.escape(last.key)} input`)?.focus()
}
