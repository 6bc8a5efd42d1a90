/**
 * The record of contract 5.3 as it is sent: the stored text with the entries' second id key and a small tail. Nothing
 * is parsed.
 */
import type { App } from './app.ts'

/** Quotes inside texts are escaped, so this can only be the key itself. */
const ENTRY_ID = /"platform_id":"([A-Za-z0-9_-]*)"/g

export function openRecords(app: App) {
  const [mirrorKey] = Object.keys(app.platform.mirror('x'))
  const bothKeys =
    mirrorKey === undefined ? undefined : `"platform_id":"$1",${JSON.stringify(mirrorKey).replaceAll('$', '$$$$')}:"$1"`
  const indexName = `${app.settings.prefix}_playlist`

  return (text: string, score = 0): string => {
    const mirrored = bothKeys === undefined ? text : text.replace(ENTRY_ID, bothKeys)
    return `${mirrored.slice(0, -1)},"_index":"${indexName}","_score":${Math.round(score * 100) / 100}}`
  }
}
