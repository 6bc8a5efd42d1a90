/**
 * Shows any list of the API as a grid that loads while scrolling, with sentences for empty, failed and incomplete
 * lists.
 */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { List } from '../stores/list.ts'
import { type Count, t } from '../texts/lookup.ts'
import { Failed } from './states.tsx'
import { VirtualGrid, type VirtualGridProps } from './virtual-grid.tsx'

interface ListGridProps<Row> extends Omit<VirtualGridProps, 'count' | 'render' | 'keyOf' | 'onSight'> {
  list: List<Row>
  /** How many rows ahead of the visible ones are loaded. */
  ahead: number
  /** Placeholder of a row that is still loading. */
  ghost: ComponentChildren
  /** Shown if the list is empty. */
  empty: ComponentChildren
  render: (row: Row) => ComponentChildren
  /** Wraps the rows if there are any. */
  frame?: (rows: ComponentChildren) => ComponentChildren
}

const GHOSTS = 24
/** The first load includes only the visible rows; reading ahead starts with scrolling. */
const hasMoved = (): boolean => scrollY > 0

/** At least one placeholder if there are more rows: when it becomes visible, the next request is sent. */
const ghostsFor = (total: Count | undefined, there: number): number =>
  typeof total === 'number' ? Math.max(1, Math.min(GHOSTS, total - there)) : GHOSTS

export function ListGrid<Row>({
  list,
  ahead,
  ghost,
  empty,
  render,
  frame = (rows) => rows,
  ...grid
}: ListGridProps<Row>) {
  useEffect(() => void list.reach(1), [list])
  const rows = list.rows.value
  const isWhole = list.isWhole.value
  const isFailed = list.state.value === 'failed'
  const failed = isFailed && <Failed failure={list.failure.value} onRetry={() => list.retry()} />
  if (rows.length === 0 && isFailed) return failed
  if (rows.length === 0 && isWhole) return <>{empty}</>
  return (
    <>
      {frame(
        <VirtualGrid
          {...grid}
          count={rows.length + (isWhole || isFailed ? 0 : ghostsFor(list.total.value, rows.length))}
          onSight={(_first, last) => void list.reach(last + (hasMoved() ? ahead : 0))}
          keyOf={(position) => rows[position] && list.idOf(rows[position])}
          render={(position) => {
            const row = rows[position]
            return row === undefined ? ghost : render(row)
          }}
        />,
      )}
      {failed}
      {list.isCut.value && <p class="end-of-list">{t('list.cut')}</p>}
    </>
  )
}
