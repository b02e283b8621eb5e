// What only the browser can do for people: see pages/shared/browser.py. Runs anew whenever `data` changes.

const COOKIE = "nextreel_tour=seen; path=/; max-age=31536000; SameSite=Lax"
const MARKDOWN = ['\\\\', ":small[", ":gray["].map((sign) => `[aria-label*="${sign}"]`).join(", ") + ', [aria-label^="*"]'
const OVERLAY = "[role=dialog], [role=menu], [data-st-overlay-root]"

export default function ({ data }) {
  const now = (window.nextreel ??= watch())
  if (now.path !== location.pathname) closeNavigation()
  if (now.step !== undefined && now.step !== data.step) moveFocus(now.step, data.step)
  document.documentElement.lang = data.language
  if (data.seen) document.cookie = COOKIE
  now.path = location.pathname
  now.step = data.step
}

// On a phone the navigation lies over the page and would stay open after a page was chosen.
function closeNavigation() {
  if (innerWidth >= 768) return
  document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  setTimeout(() => document.activeElement.closest("[data-testid=stSidebar]") && focusHeading(), 400) // when it is away
}

// When the tour begins the focus goes to it; when it ends, to the heading of the page, as its buttons are gone.
function moveFocus(before, step) {
  if (before === null) document.querySelector(".st-key-tour button")?.focus()
  else if (step === null) focusHeading()
}

function focusHeading() {
  const heading = document.querySelector("h1")
  heading?.setAttribute("tabindex", "-1")
  heading?.focus()
}

function watch() {
  let last = null // what had the focus before a menu or a dialog opened
  let open = false
  document.addEventListener("focusin", ({ target }) => {
    if (target.getAttribute("role") === "menu") enterMenu(target)
    else if (!target.closest(OVERLAY)) last = { element: target, key: keyOf(target) }
  })
  new MutationObserver(() => {
    document.querySelectorAll(MARKDOWN).forEach(speakPlainly)
    const before = open
    open = document.querySelector("[role=dialog]") !== null
    if (before && !open) setTimeout(() => giveBack(last), 50)
  }).observe(document.body, { childList: true, subtree: true })
  document.querySelectorAll(MARKDOWN).forEach(speakPlainly)
  // Whoever is quick chooses a page before this script runs for the first time: the path is that of the first request.
  return { path: new URL(performance.getEntriesByType("navigation")[0].name).pathname }
}

// Streamlit gives screen readers the Markdown of a label: "*More about Brazil \(1985\)*", "Film :small[of this set]".
function speakPlainly(element) {
  const label = element.getAttribute("aria-label")
  element.setAttribute("aria-label", label.replace(/\\(.)|:[a-z-]+\[|[\]*]/g, (_, sign) => sign ?? ""))
}

// Streamlit leaves the focus on the menu itself, from where the first arrow leads past the first entry.
function enterMenu(menu) {
  menu.querySelector("[role=menuitem]")?.focus()
}

function keyOf(element) {
  const named = element.closest("[class*=st-key-]")
  return named && [...named.classList].find((name) => name.startsWith("st-key-"))
}

// After a dialog the focus returns to where it was, or to what has been drawn anew in its place.
function giveBack(last) {
  if (!last || document.activeElement !== document.body) return
  if (last.element.isConnected) last.element.focus()
  else if (last.key) document.querySelector(`.${CSS.escape(last.key)} button, .${CSS.escape(last.key)} input`)?.focus()
}
