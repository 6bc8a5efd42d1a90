/** All that a plugin may import, as 'archivolt': define*, Type, errors, schemas, types. */
export { Type } from 'typebox'
export type { Static, TObject, TSchema } from 'typebox'
export { Value } from 'typebox/value'

export { AppError, errors, isAppError } from './error.ts'
export type { ErrorCode, ErrorOptions } from './error.ts'
export type { Facts, FactName } from './events.ts'
export { epochSeconds, localDay, localMinute, timeZone } from './clock.ts'
export type { Clock, Timer } from './clock.ts'
export type { Log } from './log.ts'

export { definePlugin, defineRoute, defineTask } from './plugin/define.ts'
export type { App, Plugin, Registry, Route, RouteInput, Services, Slots, Step, Task, TaskDefinition, SettingDefinition, QueryShape, Reply } from './plugin/define.ts'

export { queryBool, queryDay, queryEnum, queryId, queryInt, queryText, ID_PATTERN } from './http/decode.ts'
export type { Decoder } from './http/decode.ts'
export { bytes, events, file, json, listing } from './http/reply.ts'
export type { Actor, AccountRecord, Accounts } from './http/auth.ts'
export type { PageWindow } from './http/page.ts'

export { defineIndex } from './index/mapping.ts'
export type { IndexDefinition, Field, DocOf, NamesOf } from './index/mapping.ts'
export { MAX_WINDOW } from './index/port.ts'
export type { Change, Collection, Filter, FindQuery, Found, Hit, Index, TextQuery, AggregateRow, BulkResult, BulkOptions } from './index/port.ts'

export type { Job, JobContext, Jobs, NotificationMessage } from './jobs/types.ts'
export type { Lanes } from './jobs/lanes.ts'
export type { ScheduleRecord, Schedules } from './jobs/scheduler.ts'
export type { Ledger } from './ledger/sqlite.ts'
export type { PreferenceValues, Preferences, PreferenceDefinition } from './ledger/settings.ts'
export type { Settings } from '../config/schema.ts'
