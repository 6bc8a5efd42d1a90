/** Any list of videos of the API as a grid, list or table; reloads when it may be out of date. */
import { signal } from '@preact/signals'
import { Component, type ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { moreStyles } from '../browser/styles.ts'
import type { Query } from '../server/api.ts'
import { listen, type QueueChange } from '../server/events.ts'
import type { Video } from '../server/records.ts'
import { coalesce } from '../stores/coalesce.ts'
import { cachedList, type List } from '../stores/list.ts'
import type { Count } from '../texts/lookup.ts'
import { ListGrid } from './list-grid.tsx'
import type { MenuItem } from './menu.tsx'
import { selection, selectTo, toggleSelected } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { Box } from './states.tsx'
import { sayFailure } from './toast.ts'
import { cardHeight, cardMinWidth, rowHeight, VideoCard } from './video-card.tsx'
import type { ListStyle } from './video-filters.tsx'
import type { Hands } from './video-hands.tsx'
import { toVideoRow, type VideoRow } from './video-row.ts'
import type { TableOrder } from './video-table.tsx'
import { toggleWatched } from './watched.ts'

interface VideoListProps {
  label: string
  /** `/api/video/`, `/api/channel/UC1/video/`, … */
  path: string
  query?: Query
  style?: ListStyle
  /** Of a table: its sort order; undefined: the list's own order. */
  order?: TableOrder | undefined
  /** The list is sorted by publication date, so it can continue beyond 10,000 videos. */
  byDay?: 'desc' | 'asc' | undefined
  /** Appended to links to a video, such as `?list=PL1`. */
  linkQuery?: string
  /** Shown if the list is empty. */
  empty: ComponentChildren
  actions?: (row: VideoRow, list: List<VideoRow>) => MenuItem[]
  onTotal?: (total: Count) => void
  /** Called with the first visible video. */
  onFirst?: ((row: VideoRow) => void) | undefined
}

const AHEAD = 24

export function videoList(path: string, query: Query = {}, byDay?: 'desc' | 'asc'): List<VideoRow> {
  return cachedList<Video, VideoRow>(`${path} ${JSON.stringify(query)}`, {
    path,
    query,
    toRow: toVideoRow,
    idOf: ({ id }) => id,
    ...(byDay && {
      byDay: {
        dayOf: ({ published }: VideoRow) => published,
        parameter: byDay === 'desc' ? ('before' as const) : ('after' as const),
      },
    }),
  })
}

export function VideoList({
  label,
  path,
  query,
  style = 'grid',
  order,
  byDay,
  linkQuery = '',
  empty,
  actions,
  onTotal,
  onFirst,
}: VideoListProps) {
  const list = videoList(path, query, byDay)
  useFresh(list)
  const total = list.total.value
  const chosen = selection.value?.list === list ? selection.value.rows : undefined
  useEffect(() => {
    if (total !== undefined) onTotal?.(total)
  }, [total])

  const first = (position: number) => {
    const row = list.rows.peek()[position]
    if (row) onFirst?.(row)
  }
  const cellOf = (row: VideoRow, style: string, show: (hands: Hands) => ComponentChildren) => (
    <Cell
      row={row}
      style={`${style} ${linkQuery}`}
      show={show}
      actions={actions?.(row, list) ?? []}
      isActive={chosen !== undefined}
      isChosen={chosen?.has(row.id) ?? false}
      list={list}
    />
  )
  const shared = { list, label, ahead: AHEAD, onFirst: first, empty }
  const isList = style === 'list'
  const Table = style === 'table' ? tableModule.value?.VideoTable : undefined
  useEffect(() => void (style === 'table' && openTable()), [style])

  return (
    <>
      {style === 'table' ? (
        Table && <Table {...shared} order={order} cellOf={cellOf} linkQuery={linkQuery} />
      ) : (
        <ListGrid
          {...shared}
          isList={isList}
          minWidth={cardMinWidth()}
          gap={isList ? 8 : 24}
          heightOf={isList ? rowHeight : cardHeight}
          ghost={<GhostCard isList={isList} />}
          render={(row) => cellOf(row, style, (hands) => <VideoCard {...hands} isList={isList} query={linkQuery} />)}
        />
      )}
      <SelectionBar list={list} />
    </>
  )
}

/** The table is loaded on demand, because few people use it. */
const tableModule = signal<typeof import('./video-table.tsx')>()
const openTable = () =>
  Promise.all([import('./video-table.tsx'), moreStyles()]).then(
    ([loaded]) => void (tableModule.value = loaded),
    sayFailure,
  )

/** A list older than this is reloaded when somebody comes back to it. */
const STALE_MS = 60_000
/** Pause before a reload, because downloads often end one shortly after the other. */
const REST_MS = 2000
/** Maximum scroll position for a reload: further down, a reload would move the videos that people look at. */
const TOP_PX = 400

const isEnd = (change: QueueChange): boolean => 'removed' in change && change.removed === true
/** The time at which a download last ended, in any view: older lists lack its video. */
let endedAt = 0
listen('queue', (change) => void (isEnd(change) && (endedAt = Date.now())))

export const isStale = (list: List<VideoRow>): boolean =>
  (list.askedAt() ?? Number.POSITIVE_INFINITY) <= Math.max(endedAt, Date.now() - STALE_MS)

function useFresh(list: List<VideoRow>): void {
  useEffect(() => {
    if (isStale(list) && scrollY < TOP_PX) void list.reload()
    const { soon, end } = coalesce(() => scrollY > TOP_PX || list.reload(), REST_MS)
    const ends = [
      listen('queue', (change) => isEnd(change) && soon()),
      // The page was hidden or the server was unreachable, so downloads may have ended meanwhile.
      listen('missed', () => isStale(list) && soon()),
      end,
    ]
    return () => ends.forEach((one) => one())
  }, [list])
}

/** A cell depends only on its row, so that scrolling does not render it again. */
class Cell extends Component<{
  row: VideoRow
  style: string
  show: (hands: Hands) => ComponentChildren
  actions: MenuItem[]
  isActive: boolean
  isChosen: boolean
  list: List<VideoRow>
}> {
  override shouldComponentUpdate(next: Cell['props']): boolean {
    return (['row', 'style', 'isActive', 'isChosen', 'list'] as const).some((key) => next[key] !== this.props[key])
  }

  override render() {
    const { row, show, actions, isActive, isChosen, list } = this.props
    const choosing = {
      isActive,
      isChosen,
      toggle: () => toggleSelected(list, row),
      extend: () => selectTo(list, row),
    }
    return show({ row, onWatched: (one) => void toggleWatched(one), actions, choosing })
  }
}

export function GhostCard({ isList = false }: { isList?: boolean }) {
  return (
    <div class={isList ? 'card row ghost' : 'card ghost'}>
      <span class="picture box" />
      <div class="card-text">
        <Box width="90%" height="16px" />
        <Box width="55%" height="12px" />
      </div>
    </div>
  )
}
