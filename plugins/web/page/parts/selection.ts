/** The videos of a list that the user has selected, for actions on all of them. */
import { signal } from '@preact/signals'
import { hereNow } from '../browser/router.ts'
import type { List, Rows } from '../stores/list.ts'
import { t } from '../texts/lookup.ts'
import { say } from './toast.ts'
import type { Choosing } from './video-hands.tsx'
import type { VideoRow } from './video-row.ts'

interface Selection {
  list: Rows<VideoRow>
  rows: ReadonlyMap<string, VideoRow>
  /** The id from which Shift selects a range. */
  last: string
}

/** Maximum number of selected videos: the server processes each of them before it replies. */
const MOST_SELECTED = 500

export const selection = signal<Selection | undefined>(undefined)
export const clearSelection = (): void => void (selection.value = undefined)

const chosenIn = (list: Rows<VideoRow>): ReadonlyMap<string, VideoRow> =>
  selection.peek()?.list === list ? selection.peek()!.rows : new Map()

function show(list: Rows<VideoRow>, rows: Map<string, VideoRow>, last: string): void {
  if (rows.size > MOST_SELECTED) say(t('select.most', { count: MOST_SELECTED }), { isError: true })
  else selection.value = rows.size > 0 ? { list, rows, last } : undefined
}

export function toggleSelected(list: Rows<VideoRow>, row: VideoRow): void {
  const rows = new Map(chosenIn(list))
  if (!rows.delete(row.id)) rows.set(row.id, row)
  show(list, rows, row.id)
}

/**
 * Selects the range from the last selected video to this one.
 * @param all  in the displayed order, if it differs from the list's
 */
export function selectTo(list: Rows<VideoRow>, row: VideoRow, all = list.rows.peek()): void {
  const at = (id: string | undefined) => all.findIndex((one) => one.id === id)
  const [from, to] = [at(selection.peek()?.list === list ? selection.peek()!.last : row.id), at(row.id)]
  const rows = new Map(chosenIn(list))
  for (const one of all.slice(Math.min(from < 0 ? to : from, to), Math.max(from, to) + 1)) rows.set(one.id, one)
  show(list, rows, row.id)
}

/** Props for a card of a short list. Long lists compare the props of each cell (`video-list.tsx`). */
export function choosingIn(list: Rows<VideoRow>, row: VideoRow, all?: VideoRow[]): Choosing {
  const chosen = selection.value?.list === list ? selection.value.rows : undefined
  return {
    isActive: chosen !== undefined,
    isChosen: chosen?.has(row.id) ?? false,
    toggle: () => toggleSelected(list, row),
    extend: () => selectTo(list, row, all),
  }
}

/** Selects the whole list, up to a limit. */
export async function selectAll(list: List<VideoRow>): Promise<void> {
  const [before, isHere] = [selection.peek(), hereNow()]
  await list.reach(MOST_SELECTED + 1)
  if (selection.peek() !== before || !isHere()) return
  const rows = list.rows.peek()
  if (list.state.peek() !== 'failed') show(list, new Map(rows.map((row) => [row.id, row])), rows.at(-1)?.id ?? '')
}
