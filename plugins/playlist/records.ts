/** The record of contract 5.3 as it is sent: the stored text with the entries' second id key and the rank. */
import { roundScore, withKeys, withTwins } from 'archivolt'
import type { App } from './app.ts'

export function openRecords(app: App) {
  const [mirrorKey] = Object.keys(app.platform.mirror('x'))
  const indexName = `${app.settings.prefix}_playlist`

  return (text: string, score = 0): string => {
    const mirrored = mirrorKey === undefined ? text : withTwins(text, 'platform_id', mirrorKey)
    return withKeys(mirrored, { _index: indexName, _score: roundScore(score) })
  }
}
