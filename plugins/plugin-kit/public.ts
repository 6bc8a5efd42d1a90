/** Everything that plugins may import as `archivolt`: define*, Type, errors, schemas, functions of the kit, types. */

export type { Static, TObject, TSchema } from 'typebox'
export { Type } from 'typebox'
export { Value } from 'typebox/value'
export { lookAtDatabase } from '../../config/cli/look-at-database.ts'
export { MOST_PER_PAGE, type SettingDefinition, type Settings } from '../../config/schema.ts'
export { type Actor, mayUse } from '../../core/accounts/authentication.ts'
export type {
  Accounts,
  Credentials,
  CredentialsParts,
  FirstAccount,
  Identity,
} from '../../core/accounts/credentials.ts'
export { neededScope, SCOPES, type Scope } from '../../core/accounts/scope.ts'
export type { Signing } from '../../core/accounts/signing.ts'
export { abortable } from '../../core/base/abortable.ts'
export { clientOf } from '../../core/base/address.ts'
export { isBlank } from '../../core/base/blank.ts'
export { childEnvironment, runChild, startChild } from '../../core/base/child.ts'
export { chunksOf } from '../../core/base/chunk.ts'
export type { Clock, Timer } from '../../core/base/clock.ts'
export { DAY_MS, DAY_SECONDS } from '../../core/base/clock.ts'
export type { ErrorCode, ErrorOptions } from '../../core/base/error.ts'
export { AppError, errors, isAppError, wordsOf } from '../../core/base/error.ts'
export { giveWay } from '../../core/base/give-way.ts'
export { ID_PATTERN, isId } from '../../core/base/id.ts'
export { overloadOf } from '../../core/base/json-load.ts'
export { withinTime } from '../../core/base/limit.ts'
export { maskCredentials } from '../../core/base/mask.ts'
export { Quota } from '../../core/base/quota.ts'
export { Rate } from '../../core/base/rate.ts'
export { inEnglish, joined, type Sentence, saidOf, say, sentenceOf } from '../../core/base/say.ts'
export { Said, Words } from '../../core/base/sentence-schemas.ts'
export { listOf, objectOf, withKeys } from '../../core/base/splice.ts'
export { faultsIn, firstFaultIn } from '../../core/base/validation.ts'
export { syncFile, syncFolder, writeWhole } from '../../core/base/whole-file.ts'
export { type AnswerTold, answers, type QuestionTold, questions } from '../../core/diagnostics.ts'
export type { EventName, Events } from '../../core/events.ts'
export { diskSpace, makeFolders, openFolder, removeUnfinished } from '../../core/folder.ts'
export type { Reserve, ReserveParts } from '../../core/full-disk.ts'
export type { Fault, FaultForm } from '../../core/http/fault.ts'
export { STATUS as errorStatus } from '../../core/http/fault.ts'
export { contentPolicy } from '../../core/http/html-defaults.ts'
export type { PageBlock, PageWindow } from '../../core/http/pagination.ts'
export { isRequired, type QueryOf, type QueryShape } from '../../core/http/query.ts'
export {
  bytes,
  events,
  file,
  JsonText,
  json,
  Listing,
  listing,
  type Meter,
  type ReplyHeaders,
} from '../../core/http/reply.ts'
export type { GarbledDocument } from '../../core/index/garbled.ts'
export type { DocOf, Field, IndexDefinition, NamesOf, Scalar } from '../../core/index/mapping.ts'
export { defineIndex } from '../../core/index/mapping.ts'
export type {
  AggregateQuery,
  AggregateRow,
  BulkOptions,
  BulkResult,
  Change,
  Collection,
  Filter,
  FindQuery,
  Found,
  Hit,
  Index,
  MergePatch,
  Part,
  PartsQuery,
  ReplaceWrite,
  RestoreOptions,
  RestoreResult,
  SnapshotRecord,
  StepOptions,
  TextQuery,
} from '../../core/index/port.ts'
export { MAX_WINDOW, STAMP } from '../../core/index/port.ts'
export type { Replacement, StoredDocuments } from '../../core/index/stored-documents.ts'
export type { View } from '../../core/index/view.ts'
export { beyondView, isHiding, kindIn, MOST_CHOSEN, NOT, seenFilter, showsId } from '../../core/index/view.ts'
export { restoreRuns } from '../../core/index/write-barrier.ts'
export type { ScheduleRecord, Schedules } from '../../core/jobs/scheduler.ts'
export { isStop } from '../../core/jobs/stop-reason.ts'
export type { Job, JobChange, JobContext, Jobs, NotificationMessage, Step } from '../../core/jobs/types.ts'
export type { ToldRows } from '../../core/ledger/follow.ts'
export type { LogLine } from '../../core/ledger/jobs.ts'
export { type FolderLock, holdFile, LockError } from '../../core/ledger/lock.ts'
export type { Preferences, PreferencesOf, PreferenceValues } from '../../core/ledger/preferences.ts'
export type { CopyLedger, LedgerFault, Salvage, SalvageParts } from '../../core/ledger/recovery.ts'
export type { Ledger } from '../../core/ledger/sqlite.ts'
export { isDamage, mustBeWhole } from '../../core/ledger/whole-check.ts'
export type { Log } from '../../core/log.ts'
export { PLUGIN_KEYWORD } from '../../core/plugin/api.ts'
export type { AddedPlugins, AsideCommand, CommandInput } from '../../core/plugin/command.ts'
export type {
  Adaptation,
  App,
  AppOf,
  ArchiveBelongings,
  BuiltPage,
  CheckParts,
  Finding,
  Hooks,
  PageAccess,
  Plugin,
  PluginCommand,
  PluginPage,
  Question,
  Registry,
  Reply,
  Route,
  RouteInput,
  Services,
  Task,
  TaskDefinition,
  WholeApp,
} from '../../core/plugin/define.ts'
export { defineCommand, definePlugin, defineRoute, defineTask } from '../../core/plugin/define.ts'
export { type SecurityEvent, tellSecurity } from '../../core/security-log.ts'
export { isUnchanged, recordSources, type Sources } from '../../core/sources.ts'
export { StartError } from '../../core/start-error.ts'
export { epochSeconds, isoTime, LATEST_SECOND, localDay, localMinute, timeZone } from '../index-kit/days.ts'
export { faultIn } from '../index-kit/fault-in.ts'
export { Slice } from '../index-kit/slice.ts'
export { snapshotName } from '../index-kit/snapshot-name.ts'
export type { MarkOptions } from '../index-kit/text.ts'
export { fold, type HighlightOptions, highlight, highlighter, markedRanges } from '../index-kit/text.ts'
export { snapshotRuns, wholeSnapshot } from '../index-kit/whole-snapshot.ts'
export { actorOf } from './actor.ts'
export { batchesOf } from './batches.ts'
export { bytesBelow } from './bytes-below.ts'
export { type CacheFile, type CacheFiles, openCacheFiles } from './cache-files.ts'
export { checkValue } from './check-value.ts'
export { chosenKinds } from './chosen-kinds.ts'
export { futureLast } from './future-last.ts'
export { hasVersion } from './has-version.ts'
export {
  DOWNLOADED_FORMATS,
  filmInput,
  inputOf,
  inputPaths,
  joinedInput,
  madeInput,
  pipedPictureInput,
} from './hostile-media.ts'
export { idInName, PIN_PATTERN, ROW_PATTERN } from './ids.ts'
export { isAmong } from './is-among.ts'
export { killGroup } from './kill-group.ts'
export { type Lanes, lanesOfTurns, openLanes } from './lanes.ts'
export { isSameCut } from './lengths.ts'
export { type Locks, openLocks } from './locks.ts'
export { mustNotBeBlank, Name } from './name.ts'
export { startProcess } from './own-process.ts'
export { runProgram } from './own-program.ts'
export { ownUrl } from './own-url.ts'
export { patchOrCreate } from './patch-or-create.ts'
export {
  type AsideFolder,
  asideFolders,
  dropOffered,
  offeredAt,
  offerRestored,
  preparedFolder,
} from './prepared-folder.ts'
export { rssBytesOf } from './process-memory.ts'
export { defineRemoval } from './removal.ts'
export { roundScore } from './round-score.ts'
export { listUnder, textUnder, withKeysInside, withTwins } from './splice.ts'
export { told } from './told.ts'
export { untilStop } from './until-stop.ts'
export { mustBeWebUrl, WebUrl } from './web-url.ts'
export { withLimit } from './with-limit.ts'
export { partsAsked, wordColumn } from './word-column.ts'
export { startWorker } from './worker.ts'
export { Xml, xml, xmlDocument, xmlText } from './xml.ts'
