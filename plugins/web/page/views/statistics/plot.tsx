/**
 * A plot of values over time, drawn by uPlot in the page's colors. The value at the pointer is shown in words, and
 * screen readers get a table.
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../../stores/session.ts'
import { DAY_SECONDS as DAY } from '../../texts/format.ts'
import { LOCALES, t } from '../../texts/lookup.ts'

interface PlotProps {
  title: string
  /** Epoch seconds, ascending. */
  times: readonly number[]
  values: readonly number[]
  /** `steps`: a value holds until the next point. */
  kind: 'steps' | 'bars'
  /** The values are counts, so the axis has no fractions. */
  isWhole?: boolean
  /** A bar is a month, not a day. */
  isMonthly?: boolean
  toValue: (value: number) => string
  toTime: (epoch: number) => string
  /** Shown while the pointer is elsewhere. */
  summary: string
  /** Rows of the table, newest first. */
  table: { heads: readonly string[]; rows: () => ReadonlyArray<readonly string[]> }
}

const HEIGHT_PX = 200
const MONTH = 28 * DAY
/** Width of the label of a day. */
const LABEL_PX = 88
/** Ticks are not closer than a day, so that no day has two labels. */
const DAY_STEPS = [1, 2, 3, 5, 7, 10, 15, 30, 60, 90, 120, 180, 365, 730, 1825, 3650].map((days) => days * DAY)
const WHOLE_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
]

export function Plot({
  title,
  times,
  values,
  kind,
  isWhole = false,
  isMonthly = false,
  toValue,
  toTime,
  summary,
  table,
}: PlotProps) {
  const host = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number>()
  const chosen = theme.value
  useEffect(() => {
    const box = host.current!
    const dark = matchMedia('(prefers-color-scheme: dark)')
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      // A single bar would have no width, so an empty day is added on each side.
      const isOne = kind === 'bars' && times.length === 1
      const onPoint = (position: number | undefined) => setPointed(isOne ? (position === 1 ? 0 : undefined) : position)
      const drawn: uPlot.AlignedData = isOne
        ? [
            [times[0]! - DAY, times[0]!, times[0]! + DAY],
            [null, values[0]!, null],
          ]
        : [times as number[], values as number[]]
      plot = new uPlot(optionsFor(box, { kind, times, isWhole, isMonthly, toValue, onPoint }), drawn, box)
    }
    draw()
    const watching = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: HEIGHT_PX }))
    watching.observe(box)
    dark.addEventListener('change', draw)
    return () => {
      watching.disconnect()
      dark.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [times, values, kind, chosen])

  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
        <p class="plot-figure">
          {pointed === undefined ? summary : `${toTime(times[pointed]!)}: ${toValue(values[pointed]!)}`}
        </p>
      </figcaption>
      <div ref={host} class="plot-canvas" role="img" aria-label={`${title}: ${summary}`} />
      <Table title={title} {...table} />
    </figure>
  )
}

function Table({ title, heads, rows }: PlotProps['table'] & { title: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="plot-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="unfold" aria-label={t('statistics.tableOf', { title })}>
        {t('statistics.table')}
      </summary>
      {isOpen && (
        <div role="region" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th scope="col" key={head}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows().map(([first, ...rest]) => (
                <tr key={first}>
                  <th scope="row">{first}</th>
                  {rest.map((cell, position) => (
                    <td key={position}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}

interface Drawn extends Pick<PlotProps, 'kind' | 'times' | 'isWhole' | 'isMonthly' | 'toValue'> {
  onPoint: (position: number | undefined) => void
}

function optionsFor(box: HTMLElement, { kind, times, isWhole, isMonthly, toValue, onPoint }: Drawn): uPlot.Options {
  const colour = (name: string) => resolved(box, name)
  // Space for half a bar at both ends.
  const room =
    times
      .slice(1)
      .reduce((least, time, before) => Math.min(least, time - times[before]!), times.length > 1 ? Infinity : DAY) / 2
  // On televisions all text is larger.
  const larger = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
  const font = `${12 * larger}px ${getComputedStyle(box).fontFamily}`
  const axis = { stroke: colour('--muted'), font, ticks: { show: false }, border: { show: false } }
  const dates: uPlot.Axis = { ...axis, size: 28 * larger, gap: 6, grid: { show: false }, space: LABEL_PX * larger }
  return {
    width: box.clientWidth,
    height: HEIGHT_PX,
    padding: [12, 8, 0, 0],
    legend: { show: false },
    // The server has computed the days, so they do not depend on the browser's time zone.
    tzDate: (epoch) => uPlot.tzDate(new Date(epoch * 1000), 'Etc/UTC'),
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 8, width: 2, stroke: colour('--accent'), fill: colour('--surface') },
    },
    scales: {
      x: kind === 'bars' ? { range: (_, from, to) => [from - room, to + room] } : {},
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
    },
    axes: [
      kind === 'bars'
        ? {
            ...dates,
            splits: (plot) => spread(times, plot.bbox.width / devicePixelRatio / larger),
            values: (_, ticks) => ticks.map((epoch) => toTick(epoch, isMonthly ? MONTH : DAY)),
          }
        : {
            ...dates,
            incrs: DAY_STEPS,
            values: (_, ticks, __, ___, step) => ticks.map((epoch) => toTick(epoch, step)),
          },
      {
        ...axis,
        size: 60 * larger,
        gap: 8,
        space: 44,
        grid: { stroke: colour('--line'), width: 1 },
        values: (_, ticks) => ticks.map(toValue),
        ...(isWhole && { incrs: WHOLE_STEPS }),
      },
    ],
    series: [
      {},
      {
        stroke: colour('--accent'),
        width: kind === 'bars' ? 0 : 2,
        fill: colour(kind === 'bars' ? '--accent' : '--accent-soft'),
        points: { show: false },
        paths:
          kind === 'bars' ? uPlot.paths.bars!({ size: [0.6, 48], radius: 0.12 }) : uPlot.paths.stepped!({ align: 1 }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  }
}

/** As many of the times as there is space for labels. */
function spread(times: readonly number[], width: number): number[] {
  const every = Math.max(1, Math.ceil((times.length * LABEL_PX) / Math.max(1, width)))
  return times.filter((_, position) => position % every === 0)
}

/** The label of a tick in one line: a year, a month with its year, or a day. */
function toTick(epoch: number, step: number): string {
  const at = new Date(epoch * 1000)
  const form: Intl.DateTimeFormatOptions =
    step >= 360 * DAY
      ? { year: 'numeric' }
      : step >= MONTH
        ? { month: 'short', year: 'numeric' }
        : { day: 'numeric', month: 'short' }
  return new Intl.DateTimeFormat(LOCALES, { ...form, timeZone: 'UTC' }).format(at)
}

/** A canvas does not resolve variables or `light-dark()`, so the browser is asked for the computed color. */
function resolved(box: HTMLElement, name: string): string {
  box.style.color = `var(${name})`
  const { color } = getComputedStyle(box)
  box.style.removeProperty('color')
  return color
}
