/** A small index for the tests in this folder. */
import { join } from 'node:path'
import { Type } from 'typebox'
import { type Clock, systemClock } from '../../../core/base/clock.ts'
import { defineIndex, type IndexDefinition } from '../../../core/index/mapping.ts'
import { openLog } from '../../../core/log.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'

export const bookIndex = defineIndex({
  name: 'book',
  newest: 'addedAt',
  doc: Type.Object({
    title: Type.String(),
    subtitle: Type.String(),
    year: Type.Integer(),
    marks: Type.Array(Type.String()),
    addedAt: Type.Integer(),
    owner: Type.String(),
  }),
  fields: {
    title: { type: 'text', search: 1, sort: true },
    addedAt: { type: 'date', filter: true, sort: true },
    owner: { type: 'keyword', filter: true, internal: true },
  },
})

export const bookOf = (at: number) => ({
  id: `b${String(at).padStart(3, '0')}`,
  doc: {
    title: `Number ${at}`,
    subtitle: `Subtitle ${at}`,
    year: 1900 + (at % 100),
    marks: [`m${at % 2}`],
    addedAt: at,
    owner: 'me',
  },
})

export function openBooks(
  folder: string,
  definitions: readonly IndexDefinition[] = [bookIndex],
  clock: Clock = systemClock,
  onLine?: () => void,
) {
  const log = onLine ? openLog('info', { write: onLine }) : openLog('silent')
  return openSqliteIndex({ file: join(folder, 'index.sqlite'), definitions, log, clock })
}
