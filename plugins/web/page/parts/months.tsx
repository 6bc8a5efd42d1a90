/** A slider over the months of a long list: shows the month of the current position, and scrolls to another month. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { X } from 'lucide'
import { useLayoutEffect } from 'preact/hooks'
import { changeQuery, route } from '../browser/router.ts'
import { get, type Query } from '../server/api.ts'
import type { Months } from '../server/records.ts'
import { isMore } from '../stores/list.ts'
import { useLoad } from '../stores/load.ts'
import { toMonth } from '../texts/format.ts'
import { type Count, t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'

/** Minimum number of videos: shorter lists are quick to scroll. */
const MANY = 60
/** Whether the list is long enough to request its months. */
export const isLong = (total: Count | undefined): boolean => isMore(total, MANY - 1)
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** `?month=2024-05`: the list starts at this month. */
export const monthOfAddress = (): string => {
  const month = route.value.query.get('month') ?? ''
  return MONTH.test(month) ? month : ''
}

/** The API parameters for a list that starts at the month. */
export function fromMonth(month: string, order: 'asc' | 'desc'): Query {
  if (month === '') return {}
  if (order === 'asc') return { after: `${month}-01` }
  const [year = 0, number = 0] = month.split('-').map(Number)
  return { before: new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10) }
}

interface Props {
  /** The list's filters, without its order and month. */
  query: Query
  order: 'asc' | 'desc'
  /** The day of the first visible video. */
  at: ReadonlySignal<string>
}

export function MonthSlider({ query, order, at }: Props) {
  const { now } = useLoad(`months/${JSON.stringify(query)}`, (signal) =>
    get<Months>('/api/video/months/', query, signal),
  )
  const aimed = useSignal<string | undefined>(undefined)
  // The chosen month is kept until the list has arrived there, so that further key presses continue from it. It is a
  // signal, because a key press may come before the next render.
  useLayoutEffect(() => void (aimed.value = undefined), [at.value])
  const months = order === 'desc' ? (now.value.value ?? []) : (now.value.value ?? []).toReversed()
  const total = months.reduce((sum, { count }) => sum + count, 0)
  if (months.length < 2 || total < MANY) return null
  const seen = aimed.value ?? (at.value || monthOfAddress()).slice(0, 7)
  const position = Math.max(
    0,
    months.findIndex(({ month }) => month === seen),
  )
  const { month, count } = months[position]!
  const words = t('home.month.is', { month: toMonth(`${month}-01`), count })
  const go = (to: number) => {
    // Replaces the history entry, so that Back leaves the list instead of going through each month that was tried.
    changeQuery({ month: months[to]?.month }, { isReplacing: monthOfAddress() !== '' })
  }
  return (
    <div class="months">
      <input
        type="range"
        aria-label={t('home.month')}
        aria-valuetext={words}
        min={0}
        max={months.length - 1}
        value={position}
        onInput={({ currentTarget }) => void (aimed.value = months[Number(currentTarget.value)]?.month)}
        onChange={({ currentTarget }) => go(Number(currentTarget.value))}
      />
      <output aria-hidden="true" style={{ '--at': `${(position / (months.length - 1)) * 100}%` }}>
        {words}
      </output>
      {yearsOf(months).map(({ year, share }) => (
        <span key={year} class="months-year" aria-hidden="true" style={{ '--at': `${share * 100}%` }}>
          {year}
        </span>
      ))}
    </div>
  )
}

/** A chip that removes the month. */
export function MonthChip({ month }: { month: string }) {
  const name = toMonth(`${month}-01`)
  return (
    <button
      type="button"
      class="chip"
      aria-pressed="true"
      aria-label={t('home.clear', { what: name })}
      onClick={() => changeQuery({ month: '' })}
    >
      <span class="chip-name">{name}</span>
      <Icon node={X} size={16} />
    </button>
  )
}

/** The position of each year's start, 0–1, without years that are too close to the previous one. */
function yearsOf(months: Months): Array<{ year: string; share: number }> {
  const found: Array<{ year: string; share: number }> = []
  for (const [position, { month }] of months.entries()) {
    const [year = '', share] = [month.slice(0, 4), position / (months.length - 1)]
    const last = found.at(-1)
    if (!last || (last.year !== year && share - last.share > 0.04)) found.push({ year, share })
  }
  return found
}
