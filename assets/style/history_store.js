// The watch history in the local storage of the browser, see pages/watch/saved_history.py. The function runs again whenever `data` changes.

const KEY = "nextreel_history", SUMMARY_KEY = "nextreel_history_about"
export default function ({ data, setStateValue, setTriggerValue }) {
  // number of the last handled request of each instance, because this function runs repeatedly
  const lastNumbers = window.nextreelStore ??= {}
  if (data.number && data.number !== lastNumbers[data.name]) {
    lastNumbers[data.name] = data.number
    try {
      if (data.request === "save") {
        localStorage.setItem(KEY, data.text)
        localStorage.setItem(SUMMARY_KEY, data.summary)
        setTriggerValue("saved", true)
      }
      if (data.request === "delete") { localStorage.removeItem(KEY); localStorage.removeItem(SUMMARY_KEY) }
      if (data.request === "load") setTriggerValue("loaded", localStorage.getItem(KEY) ?? "")
    } catch { setTriggerValue("failed", true) }
  }
  if (data.lastSummary === undefined) return // this instance only saves
  let summary = ""
  try { summary = localStorage.getItem(SUMMARY_KEY) ?? "" } catch {}
  if (summary !== data.lastSummary) setStateValue("summary", summary)
}
