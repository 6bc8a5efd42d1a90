/** Videos of a list that were chosen by hand, to do something with all of them. */
import { signal } from '@preact/signals'
import type { List } from '../stores/list.ts'
import { t } from '../texts/texts.ts'
import { say } from './toast.tsx'
import type { VideoRow } from './video-row.ts'

interface Selection {
  list: List<VideoRow>
  rows: ReadonlyMap<string, VideoRow>
  /** From here on Shift takes all. */
  last: string
}

/** The server works on each before it answers. */
export const MOST_SELECTED = 500

export const selection = signal<Selection | undefined>(undefined)
export const clearSelection = (): void => void (selection.value = undefined)

const chosenIn = (list: List<VideoRow>): ReadonlyMap<string, VideoRow> =>
  selection.peek()?.list === list ? selection.peek()!.rows : new Map()

function show(list: List<VideoRow>, rows: Map<string, VideoRow>, last: string): void {
  if (rows.size > MOST_SELECTED) say(t('select.most', { count: MOST_SELECTED }), { isError: true })
  else selection.value = rows.size > 0 ? { list, rows, last } : undefined
}

export function toggleSelected(list: List<VideoRow>, row: VideoRow): void {
  const rows = new Map(chosenIn(list))
  if (!rows.delete(row.id)) rows.set(row.id, row)
  show(list, rows, row.id)
}

/** All from the last one to this. */
export function selectTo(list: List<VideoRow>, row: VideoRow): void {
  const all = list.rows.peek()
  const at = (id: string | undefined) => all.findIndex((one) => one.id === id)
  const [from, to] = [at(selection.peek()?.list === list ? selection.peek()!.last : row.id), at(row.id)]
  const rows = new Map(chosenIn(list))
  for (const one of all.slice(Math.min(from < 0 ? to : from, to), Math.max(from, to) + 1)) rows.set(one.id, one)
  show(list, rows, row.id)
}

/** All of the list, if they are not too many. */
export async function selectAll(list: List<VideoRow>): Promise<void> {
  await list.reach(MOST_SELECTED + 1)
  const rows = list.rows.peek()
  if (list.state.peek() !== 'failed') show(list, new Map(rows.map((row) => [row.id, row])), rows.at(-1)?.id ?? '')
}
