/** The columns of the table of videos beside the title, and by which of them it is ordered. */
import type { SortName, UserPreferences } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'

export type Column = NonNullable<UserPreferences['table_columns']>[number]
type Sortable = Extract<Column, SortName>

export const COLUMNS: readonly Column[] = [
  ...(['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height', 'views', 'likes'] as const),
]
const FIRST: readonly Column[] = ['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height']

/** In their order, whatever that of choosing them was. */
export const chosenColumns = (): Column[] => {
  const chosen = userPreferences.value.table_columns ?? FIRST
  return COLUMNS.filter((one) => chosen.includes(one))
}

/** The API orders by no name. */
export const isSortable = (column: Column): column is Sortable => column !== 'channel'

/** As the address says them: `views`, `views.asc`. */
export const TABLE_SORTS = COLUMNS.filter(isSortable).flatMap((by) => [by, `${by}.asc`] as const)
