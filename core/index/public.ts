/**
 * All that an index adapter may import beside 'archivolt', as 'archivolt/index'. A worker thread imports it too, so
 * nothing here loads a large package.
 */

export { LATEST_SECOND, systemClock } from '../clock.ts'
export { chunksOf, Slice } from '../concurrency/chunk.ts'
export { StartError } from '../error.ts'
export { isDiskFull } from '../full-disk.ts'
export type { AdapterParts, IndexAdapterDefinition, OpenedAdapter } from './adapter.ts'
export type { DefinitionData, FieldPlan, Json, JsonObject, OnWrong, StoredTexts } from './document.ts'
export {
  applyChange,
  checkedDoc,
  checkId,
  definitionData,
  Refusal,
  readDoc,
  storedTexts,
  valuesOf,
  WrongType,
  wholeDoc,
} from './document.ts'
export type { OnGarbled } from './garbled.ts'
export type { Holdings } from './in-use.ts'
export type { ZoneChange } from './local-days.ts'
export { spanOf, zoneChanges } from './local-days.ts'
export type { FieldType, Scalar } from './mapping.ts'
export type { Migration, Progress, Shape } from './migrate.ts'
export { migrate } from './migrate.ts'
export type { IndexPlan, Order } from './plan.ts'
export {
  changedStems,
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
  windowOf,
} from './plan.ts'
export type { IndexAdapter, Leftover, PutManyOptions, Snapshots, WriteOptions } from './port.ts'
export { MAX_WINDOW } from './port.ts'
export type { StoredCollection } from './restore.ts'
export { restoreAll } from './restore.ts'
export { snapshotName } from './snapshot-name.ts'
export type { QueryWord } from './text.ts'
export { editDistance, fold, indexTerms, isNear, queryWords, STOP_WORDS, stem, tokens } from './text.ts'
export { wholeSnapshot } from './whole-snapshot.ts'
export type { Patience } from './write-barrier.ts'
export { patience, waitAtBarrier } from './write-barrier.ts'
