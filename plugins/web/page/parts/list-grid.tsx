/** Any list of the API as a grid: read as far as one looks, empty, failing and cut off in words. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { List } from '../stores/list.ts'
import { type Count, t } from '../texts/lookup.ts'
import { Failed } from './states.tsx'
import { VirtualGrid, type VirtualGridProps } from './virtual-grid.tsx'

interface ListGridProps<Row> extends Omit<VirtualGridProps, 'count' | 'render' | 'onSight'> {
  list: List<Row>
  /** So many rows are read before they come into sight. */
  ahead: number
  /** Stands where rows are on their way. */
  ghost: ComponentChildren
  /** Shown where nothing is there. */
  empty: ComponentChildren
  render: (row: Row) => ComponentChildren
  /** What stands around the rows where there are some. */
  frame?: (rows: ComponentChildren) => ComponentChildren
}

const GHOSTS = 24
/** Whoever has just come asks for what they see; what follows is read ahead once they look further. */
const hasMoved = (): boolean => scrollY > 0

/** At least one where there is more: it is what asks for it. */
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
