/** Rows that people reorder by dragging or by keys. */
import { GripVertical } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { onceRendered } from '../browser/once-rendered.ts'
import { inTurn } from '../server/in-turn.ts'
import { openChanges } from '../stores/changes.ts'
import { t } from '../texts/lookup.ts'
import { followPointer, STEPS } from './follow-pointer.ts'
import { Icon } from './icon.tsx'
import { sayFailure } from './toast.ts'

interface Props<Row> {
  rows: readonly Row[]
  titleOf: (row: Row) => string
  /** undefined: the account may not change the order. @param moved  the row that was moved to a position */
  order: ((ids: readonly number[], moved: { id: number; position: number }) => Promise<void>) | undefined
  class?: string
  rowClass?: (row: Row) => string
  children: (row: Row) => ComponentChildren
}

interface Moves {
  /** The rows in the order of all moves, also of those that the server has not confirmed yet. */
  shown<Row extends { id: number }>(rows: readonly Row[]): readonly Row[]
  /**
   * Moves are sent one after the other.
   * @param ids  the new order
   * @throws what `send` throws; the move is then undone
   */
  move(ids: readonly number[], send: () => Promise<unknown>): Promise<void>
}

/** Shows each move until its reply has been reloaded: the reply to an earlier move does not contain it. */
export function useMoves(reload: () => Promise<void>): Moves {
  const [{ now, during }] = useState(openChanges<readonly number[]>)
  return {
    shown: (rows) => now.value.reduce(inOrder, rows),
    move: (ids, send) =>
      during(ids, async () => {
        try {
          await inTurn('moves', send)
        } finally {
          await reload()
        }
      }),
  }
}

/** Other rows are last, in their own order. */
function inOrder<Row extends { id: number }>(rows: readonly Row[], ids: readonly number[]): readonly Row[] {
  const positionOf = new Map(ids.map((id, position) => [id, position]))
  return rows.toSorted((a, b) => (positionOf.get(a.id) ?? ids.length) - (positionOf.get(b.id) ?? ids.length))
}

/** The row of a list at the position of the pointer. */
function positionAt(list: HTMLElement, y: number): number {
  const rows = [...list.children]
  const at = rows.findIndex((row) => y < row.getBoundingClientRect().bottom)
  return at < 0 ? rows.length - 1 : at
}

export function OrderedList<Row extends { id: number }>({
  rows,
  titleOf,
  order,
  class: name = '',
  rowClass,
  children,
}: Props<Row>) {
  const list = useRef<HTMLUListElement>(null)
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const [said, tell] = useState('')
  const shown = drag ? moved(rows, drag.from, drag.to) : rows
  const move = async (from: number, to: number, isByKey = false) => {
    const position = Math.max(0, Math.min(to, rows.length - 1))
    if (!order || position === from) return
    tell(t('list.moved', { title: titleOf(rows[from]!), position: position + 1, all: rows.length }))
    const ids = moved(rows, from, position).map(({ id }) => id)
    const sent = order(ids, { id: rows[from]!.id, position }).catch(sayFailure)
    if (isByKey) onceRendered(() => list.current?.children[position]?.querySelector<HTMLElement>('.handle')?.focus())
    await sent
  }
  const begin = (event: PointerEvent, from: number) => {
    if (event.button !== 0) return
    event.preventDefault()
    let to = from
    setDrag({ from, to })
    const showAt = (y: number) => {
      const now = list.current ? positionAt(list.current, y) : to
      if (now !== to) setDrag({ from, to: (to = now) })
    }
    followPointer(event.clientY, showAt, (isDropped) => {
      setDrag(undefined)
      if (isDropped) void move(from, to)
    })
  }
  return (
    <>
      <ul class={drag ? `settings-rows ${name} ordering` : `settings-rows ${name}`} ref={list}>
        {shown.map((row, position) => (
          <li key={row.id} class={drag?.to === position ? 'lifted' : rowClass?.(row)}>
            {order && rows.length > 1 && (
              <button
                type="button"
                class="icon-button handle"
                aria-label={t('list.move', { title: titleOf(row), position: position + 1, all: rows.length })}
                title={t('list.move.hint')}
                onPointerDown={(event) => begin(event, position)}
                onKeyDown={(event) => {
                  const step = STEPS[event.key]
                  if (!step) return
                  event.preventDefault()
                  event.stopPropagation()
                  void move(position, step(position, rows.length), true)
                }}
              >
                <Icon node={GripVertical} />
              </button>
            )}
            {children(row)}
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  )
}

const moved = <Value,>(list: readonly Value[], from: number, to: number): Value[] =>
  list.toSpliced(from, 1).toSpliced(to, 0, list[from]!)
