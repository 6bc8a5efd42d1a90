/** A list of videos as a table: people choose the columns, and sort by a click on a heading. */
import { ArrowDown, ArrowLeftRight, ArrowUp, Columns3Cog, EllipsisVertical, ListChecks } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { under } from '../server/base.ts'
import type { List } from '../stores/list.ts'
import { changeUserPreferences, channelHref } from '../stores/session.ts'
import { toBytes, toClock, toCompact, toDate, toDay, toNumber } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { IconButton } from './button.tsx'
import { COLUMNS, type Column, chosenColumns, isSortable } from './columns.ts'
import { Icon } from './icon.tsx'
import { ListGrid } from './list-grid.tsx'
import { Menu } from './menu.tsx'
import { clearSelection, selectAll, selection } from './selection.ts'
import { Box } from './states.tsx'
import { ChooseButton, Gone, type Hands, useHands } from './video-hands.tsx'
import type { VideoRow } from './video-row.ts'

/** The sort order of a table and a function that changes it; undefined: the list has its own order. */
export interface TableOrder {
  by: string
  order: 'asc' | 'desc'
  change: (by: string, order: 'asc' | 'desc') => void
}

interface VideoTableProps {
  list: List<VideoRow>
  label: string
  ahead: number
  order?: TableOrder | undefined
  empty: ComponentChildren
  onFirst: (position: number) => void
  /** @param style  what the appearance depends on, apart from the row */
  cellOf: (row: VideoRow, style: string, show: (hands: Hands) => ComponentChildren) => ComponentChildren
  linkQuery: string
}

const ROW_PX = 56
/** Minimum width of the title, and widths before and after the columns. */
const TITLE_PX = 200
const ENDS_PX = 2 * 48
const WIDTHS: Record<Column, number> = {
  channel: 152,
  published: 112,
  downloaded: 112,
  duration: 80,
  mediasize: 88,
  height: 72,
  views: 80,
  likes: 80,
}

/** Columns with numbers, whose digits are aligned. */
const FIGURES = new Set<Column>(['duration', 'mediasize', 'height', 'views', 'likes'])
const classOf = (column: Column) => (FIGURES.has(column) ? 'figure' : undefined)

const textOf: Record<Exclude<Column, 'channel'>, (row: VideoRow) => string> = {
  published: ({ published }) => toDay(published),
  downloaded: ({ downloaded }) => toDate(downloaded),
  duration: ({ duration }) => (duration > 0 ? toClock(duration) : ''),
  mediasize: ({ size }) => (size > 0 ? toBytes(size) : ''),
  height: ({ height }) => (height > 0 ? t('table.lines', { count: height }) : ''),
  views: ({ views }) => toCompact(views),
  likes: ({ likes }) => toCompact(likes),
}

export function VideoTable({ list, label, ahead, order, empty, onFirst, cellOf, linkQuery }: VideoTableProps) {
  const { ref, columns, width } = useColumns()
  const total = list.total.value
  const template = ['48px', `minmax(${TITLE_PX}px, 1fr)`, ...columns.map((one) => `${WIDTHS[one]}px`), '48px'].join(' ')
  return (
    <div ref={ref} class="table" style={{ '--columns': template }}>
      {width > 0 && (
        <ListGrid
          list={list}
          label={label}
          ahead={ahead}
          isList
          isTable
          minWidth={0}
          gap={0}
          heightOf={() => ROW_PX}
          onFirst={onFirst}
          ghost={<GhostRow columns={columns} />}
          empty={empty}
          frame={(rows) => (
            <div
              role="table"
              aria-label={label}
              aria-rowcount={typeof total === 'number' ? total + 1 : -1}
              aria-colcount={columns.length + 3}
            >
              <Head list={list} columns={columns} order={order} />
              {rows}
            </div>
          )}
          render={(row) =>
            cellOf(row, columns.join(), (hands) => <Row {...hands} columns={columns} linkQuery={linkQuery} />)
          }
        />
      )}
    </div>
  )
}

/** As many of the chosen columns as fit. */
function useColumns() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(ref.current!.clientWidth))
    observer.observe(ref.current!)
    setWidth(ref.current!.clientWidth)
    return () => observer.disconnect()
  }, [])
  let left = width - TITLE_PX - ENDS_PX
  const columns = chosenColumns().filter((one) => (left -= WIDTHS[one]) >= 0)
  return { ref, columns, width }
}

function Head({ list, columns, order }: { list: List<VideoRow>; columns: Column[]; order: TableOrder | undefined }) {
  const chosen = chosenColumns()
  const isAll = selection.value?.list === list && selection.value.rows.size === list.rows.value.length
  const choose = (column: Column) => () =>
    changeUserPreferences({
      table_columns: chosen.includes(column) ? chosen.filter((one) => one !== column) : [...chosen, column],
    })
  return (
    <div class="table-head table-row" role="row" aria-rowindex={1}>
      <div role="columnheader" aria-label={t('table.choose')}>
        <IconButton
          icon={ListChecks}
          label={isAll ? t('select.clear') : t('select.all')}
          onClick={() => (isAll ? clearSelection() : selectAll(list))}
        />
      </div>
      <div role="columnheader">{t('table.title')}</div>
      {columns.map((column) => (
        <HeadCell key={column} column={column} order={order} />
      ))}
      <div role="columnheader" aria-label={t('table.actions')}>
        <Menu
          label={t('table.columns')}
          items={COLUMNS.map((column) => ({
            label:
              chosen.includes(column) && !columns.includes(column)
                ? t('table.noRoom', { column: t(`table.${column}`) })
                : t(`table.${column}`),
            isOn: chosen.includes(column),
            staysOpen: true,
            onSelect: choose(column),
          }))}
        >
          <Icon node={Columns3Cog} />
        </Menu>
      </div>
    </div>
  )
}

function HeadCell({ column, order: now }: { column: Column; order: TableOrder | undefined }) {
  const label = t(`table.${column}`)
  if (!now || !isSortable(column))
    return (
      <div role="columnheader" class={classOf(column)}>
        {label}
      </div>
    )
  const isBy = now.by === column
  const next = isBy && now.order === 'desc' ? 'asc' : 'desc'
  return (
    <div
      role="columnheader"
      class={classOf(column)}
      aria-sort={isBy ? (now.order === 'asc' ? 'ascending' : 'descending') : 'none'}
    >
      <button type="button" onClick={() => now.change(column, next)}>
        {label}
        {isBy && <Icon node={now.order === 'asc' ? ArrowUp : ArrowDown} size={16} />}
      </button>
    </div>
  )
}

function Row({ columns, linkQuery, ...hands }: Hands & { columns: Column[]; linkQuery: string }) {
  const { choosing } = hands
  const { row, onOther, items, handlers } = useHands(hands)
  return (
    <div
      class={`table-row video${choosing?.isActive ? ' choosing' : ''}${choosing?.isChosen ? ' is-chosen' : ''}`}
      role="presentation"
      {...handlers}
    >
      <div role="cell">{choosing && <ChooseButton title={row.title} choosing={choosing} />}</div>
      <div role="cell" class="card-text table-title">
        <a href={under(`/video/${row.id}/${linkQuery}`)} dir="auto" title={row.title}>
          {row.title}
        </a>
        <Marks row={row} />
      </div>
      {columns.map((column) => (
        <div key={column} role="cell" class={classOf(column)}>
          {column === 'channel' ? (
            <a href={channelHref(row.channelId)} dir="auto">
              {row.channelName}
            </a>
          ) : (
            <span {...titleOf(column, row)}>{textOf[column](row)}</span>
          )}
        </div>
      ))}
      <div role="cell">
        <Menu
          label={t('action.moreFor', { title: row.title })}
          items={[
            ...items,
            ...(onOther ? [{ label: t('video.otherTitle'), icon: ArrowLeftRight, onSelect: onOther }] : []),
          ]}
        >
          <Icon node={EllipsisVertical} />
        </Menu>
      </div>
    </div>
  )
}

/** The full number as a tooltip of a shortened one. */
const titleOf = (column: Column, row: VideoRow): { title?: string } =>
  column === 'views' || column === 'likes' ? { title: toNumber(row[column]) } : {}

function Marks({ row }: { row: VideoRow }) {
  const marks = [
    row.isWatched && t('video.watched'),
    row.isLater && t('later.is'),
    row.progress > 0 && t('video.progress', { count: Math.round(row.progress) }),
  ].filter((one) => one !== false)
  return (
    <span class="meta">
      {marks.map((mark) => (
        <span key={mark}>{mark}</span>
      ))}
      <Gone row={row} />
    </span>
  )
}

const GhostRow = ({ columns }: { columns: Column[] }) => (
  <div class="table-row" role="presentation">
    <div role="cell" />
    <div role="cell">
      <Box width="70%" height="16px" />
    </div>
    {columns.map((column) => (
      <div key={column} role="cell">
        <Box width="70%" height="16px" />
      </div>
    ))}
    <div role="cell" />
  </div>
)
