/** The preference of the bin: how long it holds removed items. */
import { Type } from 'archivolt'

export const bin = {
  days: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 3650,
    title: 'Keep deleted videos for',
    description:
      '0 deletes them immediately. Entries that are no longer on the platform stay until an admin empties the bin.',
    'x-unit': 'days',
  }),
}
