/** What stands above a list of videos: its filters and its order, as the address says them, and its look. */
import { Grid2x2, Rows3 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { changeQuery, place } from '../browser/router.ts'
import { changeSettings, settings } from '../stores/session.ts'
import { type TextKey, t } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import { Chips, Select } from './field.tsx'
import { sayFailure } from './toast.tsx'

const WATCH = ['', 'unwatched', 'continue', 'watched'] as const
const TYPE = ['', 'videos', 'streams', 'shorts'] as const
const FIRST_SORT = 'published'

type SortText<Key = TextKey> = Key extends `home.sort.${infer Sort}` ? Sort : never

interface VideoFilters {
  watch: (typeof WATCH)[number]
  type: (typeof TYPE)[number]
  sort: string
  /** The two halves of the sort. */
  by: string
  order: 'asc' | 'desc'
}

/** An address is typed by hand too: what it says wrongly counts as nothing. */
const oneOf = <Value extends string>(values: readonly Value[], name: string, fallback: Value): Value =>
  values.find((value) => value === place.value.query.get(name)) ?? fallback

export function filtersOfAddress(sorts: readonly SortText[]): VideoFilters {
  const sort = oneOf(sorts, 'sort', FIRST_SORT)
  const [by, order = 'desc'] = sort.split('.') as [string, 'asc' | 'desc' | undefined]
  return { watch: oneOf(WATCH, 'watch', ''), type: oneOf(TYPE, 'type', ''), sort, by, order }
}

export const isListed = (view: 'home' | 'channel'): boolean => settings.value[`view_style_${view}`] === 'list'

interface Props {
  filters: VideoFilters
  /** None: the list has an order of its own. */
  sorts: readonly SortText[]
  hasTypes?: boolean
  view: 'home' | 'channel'
  /** Further filters. */
  children?: ComponentChildren
}

export function VideoFilterBar({ filters: { watch, type, sort }, sorts, hasTypes = true, view, children }: Props) {
  const isList = isListed(view)
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
        {sorts.length > 0 && (
          <Select
            label={t('home.sort')}
            isLabelHidden
            value={sort}
            choices={sorts.map((value) => ({ value, label: t(`home.sort.${value}`) }))}
            onChange={(value) => changeQuery({ sort: value === FIRST_SORT ? '' : value })}
          />
        )}
        <IconButton
          icon={isList ? Grid2x2 : Rows3}
          label={isList ? t('home.grid') : t('home.list')}
          onClick={() => void changeSettings({ [`view_style_${view}`]: isList ? 'grid' : 'list' }).catch(sayFailure)}
        />
      </div>
    </div>
  )
}
