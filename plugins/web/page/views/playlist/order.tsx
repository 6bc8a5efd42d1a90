/** Reorders a custom playlist by dragging or keys: each move is shown immediately, and sent to the server in order. */
import { useSignal } from '@preact/signals'
import { GripVertical } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { onceRendered } from '../../browser/once-rendered.ts'
import { followPointer, STEPS } from '../../parts/follow-pointer.ts'
import { Icon } from '../../parts/icon.tsx'
import { inPieces } from '../../parts/pieces.ts'
import { say, sayFailure } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import { endOf, inTurn } from '../../server/in-turn.ts'
import type { Playlist, PlaylistEntry } from '../../server/records.ts'
import type { Load } from '../../stores/load.ts'
import { forgetPlaylists } from '../../stores/playlists.ts'
import { shownTitle } from '../../stores/titles.ts'
import { countTurns } from '../../stores/turns.ts'
import { t } from '../../texts/lookup.ts'

interface Drag {
  id: string
  from: number
  to: number
}

/** Counts changes by the id of the playlist: it is read again only after the newest one. */
const beginChange = countTurns()
const changesOf = (playlistId: string): string => `playlist ${playlistId}`
/** Resolves when the server has replied to all changes of this playlist so far. */
export const whenStored = async (playlistId: string): Promise<void> => endOf(changesOf(playlistId))

export type Order = ReturnType<typeof useOrder>

const moved = (entries: PlaylistEntry[], from: number, to: number): PlaylistEntry[] => {
  const rest = entries.toSpliced(from, 1)
  return rest.toSpliced(to, 0, entries[from]!)
}

export function useOrder(playlist: Playlist, load: Load<Playlist>, rowPx: number) {
  const { playlist_id: playlistId, playlist_entries: stored } = playlist
  const drag = useSignal<Drag | undefined>(undefined)
  const said = useSignal('')
  const box = useRef<HTMLDivElement>(null)
  const endDrag = useRef<(() => void) | undefined>(undefined)
  useEffect(() => () => endDrag.current?.(), [])

  const ask = (path: string, body: object): Promise<unknown> => {
    forgetPlaylists()
    return post(path, body)
  }
  const askToMove = (video_id: string, index: number) =>
    ask(`/api/playlist/custom/${playlistId}/`, { action: 'move', video_id, index })
  const askForAll = (action: 'create' | 'remove', ids: readonly string[]) =>
    inPieces(ids, (video_ids) => ask(`/api/playlist/${playlistId}/bulk/`, { action, video_ids }))
  /** Moves contain positions, so the server must apply all changes in the order in which they are shown. */
  const store = async (send: () => Promise<unknown>): Promise<void> => {
    const isNewest = beginChange(playlistId)
    try {
      await inTurn(changesOf(playlistId), send)
    } finally {
      if (isNewest()) void load.reload()
    }
  }
  const show = (how: (entries: PlaylistEntry[]) => PlaylistEntry[]) =>
    load.change((now) => ({ ...now, playlist_entries: how(now.playlist_entries) }))

  /** @param isByKey  the handle keeps the focus at its new position */
  function move(id: string, to: number, isByKey = false): void {
    const entries = load.now.peek().value?.playlist_entries ?? stored
    const from = entries.findIndex(({ platform_id }) => platform_id === id)
    const position = Math.max(0, Math.min(to, entries.length - 1))
    if (from < 0 || position === from) return
    const title = shownTitle(id, entries[from]!.title)
    said.value = t('list.moved', { title, position: position + 1, all: entries.length })
    show((now) => moved(now, from, position))
    if (isByKey) onceRendered(() => focusHandle(box.current, position))
    store(() => askToMove(id, position)).catch(sayFailure)
  }

  async function remove(ids: readonly string[]): Promise<void> {
    const some = new Set(ids)
    const entries = load.now.peek().value?.playlist_entries ?? stored
    const gone = [...entries.entries()].filter(([, { platform_id }]) => some.has(platform_id))
    const goneIds = gone.map(([, { platform_id }]) => platform_id)
    if (gone.length === 0) return
    show((now) => now.filter(({ platform_id }) => !some.has(platform_id)))
    /** The server appends the videos at the end; then each is moved to its position, starting with the first. */
    const putBack = async () => {
      await askForAll('create', goneIds)
      for (const [at, { platform_id }] of gone) await askToMove(platform_id, at)
    }
    try {
      await store(() => askForAll('remove', goneIds))
      say(t('list.removed', { count: gone.length }), {
        undo() {
          show((now) => gone.reduce((all, [at, entry]) => all.toSpliced(at, 0, entry), now))
          store(putBack).catch(sayFailure)
        },
      })
    } catch (error) {
      sayFailure(error)
    }
  }

  function begin(event: PointerEvent, id: string, position: number): void {
    if (event.button !== 0) return
    event.preventDefault()
    drag.value = { id, from: position, to: position }
    const showAt = (y: number) => {
      const top = box.current!.getBoundingClientRect().top
      const to = Math.max(0, Math.min(stored.length - 1, Math.floor((y - top) / rowPx)))
      const now = drag.peek()
      if (now && now.to !== to) drag.value = { ...now, to }
    }
    endDrag.current = followPointer(event.clientY, showAt, (isDropped) => {
      endDrag.current = undefined
      const last = drag.peek()
      drag.value = undefined
      if (isDropped && last) move(last.id, last.to)
    })
  }

  const { id, from, to } = drag.value ?? {}
  return {
    entries: from === undefined || to === undefined ? stored : moved(stored, from, to),
    draggedId: id,
    /** A sentence for screen readers. */
    said: said.value,
    box,
    move,
    remove,
    begin,
  }
}

/** Focuses the handle at the position. If the position is not rendered, scrolls there first. */
function focusHandle(box: HTMLElement | null, position: number, tries = 10): void {
  const handle = box?.querySelector<HTMLElement>(`[data-position="${position}"] .handle`)
  if (handle) {
    handle.focus({ preventScroll: true })
    handle.scrollIntoView({ block: 'nearest' })
  } else if (box && tries > 0) {
    const { top, height } = box.getBoundingClientRect()
    const all = Number(box.querySelector('[aria-setsize]')?.getAttribute('aria-setsize') ?? 1)
    scrollTo({ top: scrollY + top + (height * position) / all - innerHeight / 2 })
    requestAnimationFrame(() => focusHandle(box, position, tries - 1))
  }
}

export function Handle({ order, entry, position }: { order: Order; entry: PlaylistEntry; position: number }) {
  const all = order.entries.length
  return (
    <button
      type="button"
      class="icon-button handle"
      aria-label={t('list.move', { title: shownTitle(entry.platform_id, entry.title), position: position + 1, all })}
      title={t('list.move.hint')}
      onPointerDown={(event) => order.begin(event, entry.platform_id, position)}
      onKeyDown={(event) => {
        const step = STEPS[event.key]
        if (!step) return
        event.preventDefault()
        event.stopPropagation()
        order.move(entry.platform_id, step(position, all), true)
      }}
    >
      <Icon node={GripVertical} />
    </button>
  )
}
