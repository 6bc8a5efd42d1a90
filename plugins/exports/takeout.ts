/**
 * Reads Google Takeout: history as JSON, playlists as tables. File names and headings are in the account's language.
 */
import type { Rows } from './found.ts'
import { fieldsOf, listOf } from './json.ts'

export const isAdvert = (text: string): boolean => /Google Ads/i.test(text)

/** Reads an entry of the history. Removed videos have no URL, and ads are skipped. */
export function readTakeoutSeen(one: unknown, rows: Rows): void {
  const { titleUrl, time, details } = fieldsOf(one)
  if (listOf(details).some((detail) => isAdvert(String(fieldsOf(detail)['name'])))) return
  rows.see(titleUrl, { at: Date.parse(String(time)) / 1000 })
}

export const isTakeoutSeen = (one: unknown): boolean => {
  const { time, header, titleUrl } = fieldsOf(one)
  return typeof time === 'string' && (typeof titleUrl === 'string' || typeof header === 'string')
}

const isTime = (cell = ''): boolean => /^\d{4}-\d\d-\d\d/.test(cell) && !Number.isNaN(Date.parse(cell))
/** Whether a row has a video's id and the time when it was added, as no other table of Takeout has. */
const isListed = ([id = '', added]: readonly string[]): boolean => /^[A-Za-z0-9_-]{11}$/.test(id) && isTime(added)
const isListId = (cell = ''): boolean => /^(?:PL|LL|FL|WL)[A-Za-z0-9_-]*$/.test(cell)

/**
 * Collects playlists, and names them after all tables were read: a table does not contain its own name, its file name
 * is a modified title, and the table with the titles may come last.
 */
export function openTakeoutLists(rows: Rows) {
  const found: Array<{ file: string; title: string | undefined; ids: string[] }> = []
  const titles: string[] = []

  return {
    /** @returns whether the table is a playlist, or the list of playlists */
    take(table: readonly string[][], file: string): boolean {
      const heads = table.filter(([id]) => isListId(id)).flatMap((cells) => titleIn(cells) ?? [])
      const ids = table.filter(isListed).map(([id]) => id!)
      // Until 2023, the playlist's own row preceded its videos.
      if (ids.length > 0) found.push({ file: file.replace(/\.csv$/i, ''), title: heads[0], ids })
      else titles.push(...heads)
      return ids.length > 0 || heads.length > 0
    },

    end(): void {
      const isSuffixed = new Set(found.map(({ file }) => suffixOf(file))).size === 1
      for (const { file, title, ids } of found) {
        const named =
          title ?? titleOf(file, titles) ?? (isSuffixed ? file.slice(0, -suffixOf(file).length || undefined) : file)
        rows.list(named, ids)
      }
      found.length = 0
    },
  }
}

/** The title of a playlist, which precedes its language and two times; until 2023, it followed two times. */
function titleIn(cells: readonly string[]): string | undefined {
  const at = cells.findIndex((cell, index) => isTime(cell) && isTime(cells[index + 1]))
  if (at < 0) return undefined
  const isOld = /^UC/.test(cells[1] ?? '')
  return cells[isOld ? at + 2 : at - 2]
}

/** The suffix of the file name after the title, which means “videos” and is the same in all file names of an export. */
const suffixOf = (file: string): string => /-\p{L}+$/u.exec(file)?.[0] ?? ''

const altered = (text: string): string => text.normalize('NFC').replace(/[^\p{L}\p{N}]/gu, '_')

/** The title of a playlist by its file name, which has `_` in place of all punctuation. */
function titleOf(file: string, titles: readonly string[]): string | undefined {
  const whole = altered(file)
  const fits = titles.filter((title) => whole === altered(title) || whole.startsWith(`${altered(title)}_`))
  return fits.toSorted((a, b) => b.length - a.length)[0]
}
