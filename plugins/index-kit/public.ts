/**
 * Everything that an index adapter may import in addition to 'archivolt', as 'archivolt/index'. Worker threads import
 * it too, so nothing here loads a large package. LATEST_SECOND, MAX_WINDOW and STAMP are also exported by 'archivolt':
 * worker threads need them, and so do plugins that are not adapters and may not import 'archivolt/index'.
 */

export { systemClock } from '../../core/base/clock.ts'
export { statementCache } from '../../core/base/statement-cache.ts'
export { isDiskFull } from '../../core/full-disk.ts'
export type { AdapterParts, IndexAdapterDefinition, OpenedAdapter } from '../../core/index/adapter.ts'
export type { OnGarbled } from '../../core/index/garbled.ts'
export type { Holdings } from '../../core/index/in-use.ts'
export type { FieldType } from '../../core/index/mapping.ts'
export { partOf, partsOf } from '../../core/index/parts.ts'
export type { IndexAdapter, Leftover, PutManyOptions, Snapshots, WriteOptions } from '../../core/index/port.ts'
export { MAX_WINDOW, STAMP } from '../../core/index/port.ts'
export type { Patience } from '../../core/index/write-barrier.ts'
export { patience, waitAtBarrier } from '../../core/index/write-barrier.ts'
export { LATEST_SECOND } from './days.ts'
export type { DefinitionData, FieldPlan, Json, JsonObject, OnWrong, StoredTexts } from './document.ts'
export {
  applyChange,
  checkedDoc,
  checkId,
  definitionData,
  Refusal,
  readDoc,
  splitInternal,
  storedTexts,
  valuesOf,
  WrongType,
  wholeDoc,
} from './document.ts'
export { editDistance } from './edit-distance.ts'
export type { ZoneChange } from './local-days.ts'
export { spanOf, zoneChanges } from './local-days.ts'
export type { Migration, Progress, Shape } from './migrate.ts'
export { migrate } from './migrate.ts'
export type { IndexPlan, Order } from './plan.ts'
export {
  checkCount,
  checkMetric,
  filterField,
  inOrderOf,
  isWordy,
  LEAST_SCORE,
  MOST_GROUPS,
  mostNearTerms,
  openCollections,
  orderOf,
  planIndex,
  rarest,
  restOfShape,
  STEM_WEIGHT,
  searchScope,
  similarScope,
  sortKey,
  tellingWords,
  undeclaredIndex,
  windowOf,
} from './plan.ts'
export type { StoredCollection } from './restore.ts'
export { restoreAll } from './restore.ts'
export type { QueryWord } from './text.ts'
export {
  changedStems,
  indexTerms,
  isNear,
  queryWords,
  STOP_WORDS,
  stem,
  tokens,
} from './text.ts'
