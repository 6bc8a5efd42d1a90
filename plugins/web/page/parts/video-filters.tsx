/** The controls above a list of videos: filters and sort order, stored in the address, and the layout. */
import { signal } from '@preact/signals'
import { Grid2x2, Rows3, Table2 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { isSofa } from '../browser/layout.ts'
import { changeQuery, route } from '../browser/router.ts'
import type { SortName } from '../server/records.ts'
import { changeUserPreferences, userPreferences } from '../stores/session.ts'
import { type TextKey, t } from '../texts/lookup.ts'
import { IconButton } from './button.tsx'
import { TABLE_SORTS } from './columns.ts'
import { Chips, Select } from './field.tsx'

const WATCH = ['', 'unwatched', 'continue', 'watched'] as const
const TYPE = ['', 'videos', 'streams', 'shorts'] as const
const FIRST_SORT = 'published' satisfies SortName

type SortText<Key = TextKey> = Key extends `home.sort.${infer Sort}` ? Sort : never
/** Sort orders that the server supports and the page has texts for. */
type OfferedSort = Extract<SortText, SortName | `${SortName}.asc`>

interface VideoFilters {
  watch: (typeof WATCH)[number]
  type: (typeof TYPE)[number]
  sort: string
  /** The field and the direction of a sort. */
  by: string
  order: 'asc' | 'desc'
}

/** @param by  empty: the list keeps its own order until one is chosen */
export const orderOfAddress = (by: string, order: 'asc' | 'desc') => ({
  by,
  order,
  change: (by: string, order: 'asc' | 'desc') => changeQuery({ sort: order === 'asc' ? `${by}.asc` : by }),
})

/** People may edit the address: invalid values are ignored. */
const oneOf = <Value extends string>(values: readonly Value[], name: string, fallback: Value): Value =>
  values.find((value) => value === route.value.query.get(name)) ?? fallback

export function filtersOfAddress(sorts: readonly OfferedSort[], style: ListStyle): VideoFilters {
  const sort = oneOf<string>(style === 'table' ? TABLE_SORTS : sorts, 'sort', FIRST_SORT)
  const [by, order = 'desc'] = sort.split('.') as [string, 'asc' | 'desc' | undefined]
  return { watch: oneOf(WATCH, 'watch', ''), type: oneOf(TYPE, 'type', ''), sort, by, order }
}

/** The table needs a wide screen and a pointing device. */
const roomy = matchMedia('(min-width: 700px)')
const isRoomy = signal(roomy.matches)
roomy.addEventListener('change', () => void (isRoomy.value = roomy.matches))

const STYLES = { grid: Grid2x2, list: Rows3, table: Table2 }
export type ListStyle = keyof typeof STYLES
const stylesHere = (): ListStyle[] => (isRoomy.value && !isSofa.value ? ['grid', 'list', 'table'] : ['grid', 'list'])

/** The chosen layout; if there is no space for it, a list. */
export function styleOf(view: 'home' | 'channel'): ListStyle {
  const chosen = userPreferences.value[`view_style_${view}`] ?? 'grid'
  return stylesHere().includes(chosen) ? chosen : 'list'
}

interface Props {
  filters: VideoFilters
  /** undefined: the list has its own order. */
  sorts: readonly OfferedSort[]
  hasTypes?: boolean
  view: 'home' | 'channel'
  /** Further filters. */
  children?: ComponentChildren
}

export function VideoFilterBar({ filters: { watch, type, sort }, sorts, hasTypes = true, view, children }: Props) {
  const style = styleOf(view)
  return (
    <div class="filters" role="group" aria-label={t('home.filters')}>
      <Chips
        label={t('home.watch')}
        value={watch}
        choices={WATCH.map((value) => ({ value, label: t(`home.watch.${value}`) }))}
        onChange={(value) => changeQuery({ watch: value })}
      />
      {hasTypes && (
        <Select
          label={t('home.type')}
          isLabelHidden
          value={type}
          choices={TYPE.map((value) => ({ value, label: t(`home.type.${value}`) }))}
          onChange={(value) => changeQuery({ type: value })}
        />
      )}
      {children}
      <div class="filters-right">
        {sorts.length > 0 && style !== 'table' && (
          <Select
            label={t('home.sort')}
            isLabelHidden
            value={sort}
            choices={sorts.map((value) => ({ value, label: t(`home.sort.${value}`) }))}
            onChange={(value) => changeQuery({ sort: value === FIRST_SORT ? '' : value })}
          />
        )}
        <div class="segments" role="group" aria-label={t('home.style')}>
          {stylesHere().map((one) => (
            <IconButton
              key={one}
              icon={STYLES[one]}
              label={t(`home.${one}`)}
              aria-pressed={style === one}
              onClick={() => changeUserPreferences({ [`view_style_${view}`]: one })}
            />
          ))}
        </div>
      </div>
    </div>
  )
}
