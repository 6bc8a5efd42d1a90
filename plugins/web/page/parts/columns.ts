/** The columns of the table of videos beside the title, and the order by a column. */
import type { SortName, UserPreferences } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'

export type Column = NonNullable<UserPreferences['table_columns']>[number]
type Sortable = Extract<Column, SortName>

export const COLUMNS: readonly Column[] = [
  ...(['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height', 'views', 'likes'] as const),
]
const FIRST: readonly Column[] = ['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height']

/** In a fixed order, whatever the order of choosing. */
export const chosenColumns = (): Column[] => {
  const chosen = userPreferences.value.table_columns ?? FIRST
  return COLUMNS.filter((one) => chosen.includes(one))
}

/** The API cannot sort by title. */
export const isSortable = (column: Column): column is Sortable => column !== 'channel'

/** As in the address: `views`, `views.asc`. */
export const TABLE_SORTS = COLUMNS.filter(isSortable).flatMap((by) => [by, `${by}.asc`] as const)
