/** The actions for selected videos, in a bar at the bottom while any are selected. */
import { CircleCheck, CircleDashed, Download, ListMinus, ListPlus, Trash, X } from 'lucide'
import { useEffect } from 'preact/hooks'
import { useKeys } from '../browser/keys.ts'
import { post } from '../server/api.ts'
import { noteDeleted } from '../stores/deleted.ts'
import type { Rows } from '../stores/list.ts'
import { cachedUnder } from '../stores/load.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { undoOf } from './bin.ts'
import { Button, IconButton } from './button.tsx'
import { confirm } from './dialog.tsx'
import { inPieces } from './pieces.ts'
import { askForPlaylist } from './playlist-dialog.tsx'
import { clearSelection, selection } from './selection.ts'
import { say } from './toast.ts'
import type { VideoRow } from './video-row.ts'
import { beginMark, type Mark } from './watched.ts'

/** To delete more videos than this at once, people must type their number. */
const TYPED_FROM = 10

interface SelectionBarProps {
  list: Rows<VideoRow>
  /** Removes the videos from the list, if it is a playlist of the account. */
  onRemove?: ((ids: string[]) => Promise<void>) | undefined
  /** Called after the videos were added to other playlists, deleted, or restored. */
  onChanged?: () => void
}

export function SelectionBar({ list, onRemove, onChanged }: SelectionBarProps) {
  const isMine = selection.value?.list === list
  useKeys({ Escape: () => isMine && clearSelection() })
  // When another list or view opens, the videos are no longer visible, so they are deselected.
  useEffect(() => clearSelection, [list])
  if (!isMine) return null
  const rows = [...selection.value!.rows.values()]
  const done = () => {
    clearSelection()
    onChanged?.()
  }
  const takeOut = (some: VideoRow[]) => {
    clearSelection()
    return onRemove!(idsOf(some))
  }
  const act = (work: (rows: VideoRow[]) => Promise<void>) => () => work(rows)
  return (
    <div class="selection" role="toolbar" aria-label={t('select.bar')}>
      <p role="status">{t('select.count', { count: rows.length })}</p>
      <Button kind="quiet" icon={CircleCheck} onClick={act((some) => markAll(some, true))}>
        {t('select.watched')}
      </Button>
      <Button kind="quiet" icon={CircleDashed} onClick={act((some) => markAll(some, false))}>
        {t('select.unwatched')}
      </Button>
      <Button kind="quiet" icon={ListPlus} onClick={() => askForPlaylist(rows, done)}>
        {t('select.playlist')}
      </Button>
      {onRemove && (
        <Button kind="quiet" icon={ListMinus} title={t('list.remove')} onClick={act(takeOut)}>
          {t('select.remove')}
        </Button>
      )}
      {isAdmin.value && (
        <Button kind="quiet" icon={Download} onClick={act(downloadAgain)}>
          {t('select.again')}
        </Button>
      )}
      {isAdmin.value && (
        <Button kind="quiet" class="danger-text" icon={Trash} onClick={act((some) => drop(some, onChanged))}>
          {t('select.delete')}
        </Button>
      )}
      <IconButton icon={X} label={t('select.clear')} onClick={clearSelection} />
    </div>
  )
}

const idsOf = (rows: readonly VideoRow[]): string[] => rows.map(({ id }) => id)
const lists = (): Array<Rows<VideoRow>> => cachedUnder<Rows<VideoRow>>('list /api/')

async function markAll(rows: readonly VideoRow[], isWatched: boolean): Promise<void> {
  clearSelection()
  const turns = new Map(rows.map(({ id }) => [id, beginMark(id)]))
  const show = (markOf: (id: string) => Mark) => {
    for (const { id } of rows.filter(({ id }) => turns.get(id)!()))
      for (const list of lists()) list.change(id, (row) => ({ ...row, ...markOf(id) }))
  }
  const mark: Mark = { isWatched, progress: 0 }
  const before = new Map<string, Mark>(
    rows.map((row) => [row.id, { isWatched: row.isWatched, progress: row.progress }]),
  )
  show(() => mark)
  try {
    await inPieces(idsOf(rows), async (ids) => {
      await post('/api/watched/bulk/', { ids, is_watched: isWatched })
      for (const id of ids) before.delete(id)
    })
  } finally {
    // A reply to an earlier request may have arrived meanwhile. Videos of the requests that succeeded stay changed.
    show((id) => before.get(id) ?? mark)
  }
  const changed = rows.filter((row) => row.isWatched !== isWatched)
  const key = isWatched ? 'select.nowWatched' : 'select.nowUnwatched'
  say(t(key, { count: rows.length }), {
    ...(changed.length > 0 && { undo: () => markAll(changed, !isWatched) }),
  })
}

async function downloadAgain(rows: readonly VideoRow[]): Promise<void> {
  const question = {
    title: t('select.again.title', { count: rows.length }),
    text: t('select.again.text'),
    action: t('select.again'),
  }
  if (!(await confirm(question))) return
  clearSelection()
  await inPieces(idsOf(rows), (ids) =>
    post(
      '/api/download/',
      { data: ids.map((id) => ({ platform_id: id, status: 'pending' })) },
      { autostart: true, force: true },
    ),
  )
  say(t('select.nowAgain', { count: rows.length }))
}

async function drop(rows: readonly VideoRow[], onChanged?: () => void): Promise<void> {
  const count = rows.length
  const hasPlace = rows.some(({ place }) => place)
  const question = {
    title: t('select.delete.title', { count }),
    text: t(hasPlace ? 'select.delete.keeps' : 'select.delete.goes', { count }),
    action: t('select.delete'),
    isDangerous: true,
    ...(count > TYPED_FROM && { typed: { label: t('delete.typed', { value: String(count) }), value: String(count) } }),
  }
  if (!(await confirm(question))) return
  clearSelection()
  const removals: Array<string | undefined> = []
  const backs: Array<() => unknown> = []
  try {
    await inPieces(idsOf(rows), async (ids) => {
      removals.push((await post<{ removal?: string }>('/api/video/bulk/', { action: 'delete', ids })).removal)
      backs.unshift(noteDeleted(ids))
    })
  } finally {
    onChanged?.()
  }
  say(t('select.deleted', { count }), undoOf(removals, [...backs, () => onChanged?.()]))
}
