/** Everything that a plugin may import, as 'archivolt': define*, Type, errors, schemas, types. */

export type { Static, TObject, TSchema } from 'typebox'
export { Type } from 'typebox'
export { Value } from 'typebox/value'
export type { SettingDefinition, Settings } from '../config/schema.ts'
export { type Actor, mayUse } from './accounts/authentication.ts'
export type { Accounts, Credentials, CredentialsParts, FirstAccount, Identity } from './accounts/credentials.ts'
export { neededScope, SCOPES, type Scope } from './accounts/scope.ts'
export type { Signing } from './accounts/signing.ts'
export { clientOf } from './address.ts'
export { isBlank } from './blank.ts'
export { childEnvironment, runChild, startChild } from './child.ts'
export type { Clock, Timer } from './clock.ts'
export { DAY_MS, DAY_SECONDS, epochSeconds, LATEST_SECOND, localDay, localMinute, timeZone } from './clock.ts'
export { lookAtDatabase } from './commands/look-at-database.ts'
export { abortable } from './concurrency/abortable.ts'
export { chunksOf } from './concurrency/chunk.ts'
export { withinTime, withLimit } from './concurrency/limit.ts'
export { type Locks, openLocks } from './concurrency/locks.ts'
export { Quota } from './concurrency/quota.ts'
export { Rate } from './concurrency/rate.ts'
export { type AnswerTold, answers, type QuestionTold, questions } from './diagnostics.ts'
export type { ErrorCode, ErrorOptions } from './error.ts'
export { AppError, errors, isAppError, StartError, wordsOf } from './error.ts'
export type { EventName, Events } from './events.ts'
export { diskSpace, makeFolders, openFolder } from './folder.ts'
export { giveWay } from './give-way.ts'
export { DOWNLOADED_FORMATS, filmInput, inputOf, pipedPictureInput } from './hostile-media.ts'
export type { Fault, FaultForm } from './http/fault.ts'
export { STATUS as errorStatus } from './http/fault.ts'
export { contentPolicy } from './http/html-defaults.ts'
export type { PageBlock, PageWindow } from './http/pagination.ts'
export { isRequired, type QueryOf, type QueryShape } from './http/query.ts'
export { bytes, events, file, JsonText, json, Listing, listing, type ReplyHeaders } from './http/reply.ts'
export { ID_PATTERN, idInName, isId, ROW_PATTERN } from './id.ts'
export type { GarbledDocument } from './index/garbled.ts'
export type { KeptDocuments, Replacement } from './index/kept-documents.ts'
export type { DocOf, Field, IndexDefinition, NamesOf, Scalar } from './index/mapping.ts'
export { defineIndex } from './index/mapping.ts'
export { patchOrCreate } from './index/patch-or-create.ts'
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
  ReplaceWrite,
  RestoreOptions,
  RestoreResult,
  SnapshotRecord,
  StepOptions,
  TextQuery,
} from './index/port.ts'
export { MAX_WINDOW, roundScore } from './index/port.ts'
export { snapshotName } from './index/snapshot-name.ts'
export type { MarkOptions } from './index/text.ts'
export { fold, highlight, markedRanges, tokens } from './index/text.ts'
export { told } from './index/told.ts'
export type { View } from './index/view.ts'
export { beyondView, chosenKinds, MOST_CHOSEN } from './index/view.ts'
export { wholeSnapshot } from './index/whole-snapshot.ts'
export { partsAsked, wordColumn } from './index/word-column.ts'
export { restoreRuns } from './index/write-barrier.ts'
export type { Lanes } from './jobs/lanes.ts'
export type { ScheduleRecord, Schedules } from './jobs/scheduler.ts'
export type { Job, JobChange, JobContext, Jobs, NotificationMessage, Step } from './jobs/types.ts'
export { isStop, untilStop } from './jobs/until-stop.ts'
export { overloadOf } from './json-load.ts'
export type { LogLine } from './ledger/jobs.ts'
export { type FolderLock, holdFile, LockError } from './ledger/lock.ts'
export type { Preferences, PreferencesOf, PreferenceValues } from './ledger/preferences.ts'
export { isAmong, type Ledger } from './ledger/sqlite.ts'
export { isDamage, mustBeWhole } from './ledger/whole-check.ts'
export type { Log } from './log.ts'
export { maskCredentials } from './mask.ts'
export { startProcess } from './own-process.ts'
export type {
  Adaptation,
  App,
  AppOf,
  BuiltPage,
  CheckParts,
  CommandInput,
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
} from './plugin/define.ts'
export { defineCommand, definePlugin, defineRoute, defineTask } from './plugin/define.ts'
export { rssBytesOf } from './process-memory.ts'
export { inEnglish, joined, Said, type Sentence, saidOf, say, sentenceOf, Words } from './say.ts'
export { type SecurityEvent, tellSecurity } from './security-log.ts'
export { listOf, listUnder, objectOf, textUnder, withKeys, withKeysInside, withTwins } from './splice.ts'
export { faultIn, faultsIn, firstFaultIn } from './validation.ts'
export { writeWhole } from './whole-file.ts'
export { startWorker } from './worker.ts'
