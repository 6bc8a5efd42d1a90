/** The columns of the table of videos, apart from the title, and which of them can sort it. */
import type { SortName, UserPreferences } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'

export type Column = NonNullable<UserPreferences['table_columns']>[number]
type Sortable = Extract<Column, SortName>

export const COLUMNS: readonly Column[] = [
  ...(['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height', 'views', 'likes'] as const),
]
const FIRST: readonly Column[] = ['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height']

/** In a fixed order, whatever the order in which they were chosen. */
export const chosenColumns = (): Column[] => {
  const chosen = userPreferences.value.table_columns ?? FIRST
  return COLUMNS.filter((one) => chosen.includes(one))
}

/** The API cannot sort by channel. */
export const isSortable = (column: Column): column is Sortable => column !== 'channel'

/** Sort orders as in the address: `views`, `views.asc`. */
export const TABLE_SORTS = COLUMNS.filter(isSortable).flatMap((by) => [by, `${by}.asc`] as const)
