/**
 * Environment over `<data>/config.json` over defaults → one frozen Settings object; the only file that reads settings
 * from process.env.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { StartError } from '../core/start-error.ts'
import { coreSettings, type SettingDefinition, type Settings } from './schema.ts'

export type Definitions = Record<string, SettingDefinition>

/** The sources of values. The file is in the data folder, so that folder is determined first. */
export interface ConfigSources {
  env: Readonly<Record<string, string | undefined>>
  dataDir: string
  /** Values of `<data>/config.json`; empty without the file. */
  file: Record<string, unknown>
  filePath: string
}

/** Variables of the test runner: `make test` reads them, the server does not. */
const TEST_PREFIX = 'AV_TEST_'

// config/archivolt sets them for this process only; yt-dlp and ffmpeg run better without them.
for (const name of Object.keys(process.env)) if (name.startsWith('MALLOC_')) delete process.env[name]

/**
 * Reads the environment and the settings file without checking them, because the valid keys are known only after the
 * plugins are loaded.
 * @throws StartError  if the file is not a JSON object, or the time zone is unknown
 */
export function readSources(env: ConfigSources['env'] = process.env): ConfigSources {
  checkTimeZone(env.TZ)
  const first = { env, dataDir: '', file: {}, filePath: '' }
  const dataDir = valueOf('dataDir', coreSettings.dataDir!, first, {} as Settings) as string
  const filePath = join(dataDir, 'config.json')
  const file = readFile(filePath)
  if ('dataDir' in file)
    throw new StartError(`${filePath}: dataDir cannot be set in a file inside that folder; use AV_DATA_DIR`)
  return { env, dataDir, file, filePath }
}

/** The core's own settings, before the plugins are known. @throws StartError */
export function readCore(sources: ConfigSources): Readonly<Settings> {
  return read(sources, coreSettings)
}

/**
 * All settings: those of core and those that plugins declare.
 * @param remembered  variables and keys of missing plugins, whose settings are ignored
 * @throws StartError  for an unknown variable or key or an invalid value; names it and says what to do
 */
export function readSettings(
  sources: ConfigSources,
  pluginSettings: Definitions,
  remembered: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Readonly<Settings> {
  const definitions = { ...coreSettings, ...pluginSettings }
  const variables = new Set(Object.values(definitions).map(({ env }) => env))
  for (const name of Object.keys(sources.env)) {
    if (name.startsWith('AV_') && !name.startsWith(TEST_PREFIX) && !variables.has(name) && !remembered.has(name)) {
      throw new StartError(
        `${name}: there is no such setting${suggestion(name, variables)}; correct the name or remove it from the environment`,
      )
    }
  }
  for (const key of Object.keys(sources.file)) {
    if (!Object.hasOwn(definitions, key) && !remembered.has(key)) {
      throw new StartError(
        `${sources.filePath}: there is no setting ${key}${suggestion(key, Object.keys(definitions))}; correct the name or remove it`,
      )
    }
  }
  return read(sources, definitions)
}

function read(sources: ConfigSources, definitions: Definitions): Readonly<Settings> {
  const values = {} as Record<string, unknown>
  for (const [key, definition] of Object.entries(definitions)) {
    // Filled key by key, and complete only after the last one.
    values[key] = valueOf(key, definition, sources, values as unknown as Settings)
  }
  return Object.freeze(values) as unknown as Readonly<Settings>
}

function valueOf(
  key: string,
  definition: SettingDefinition,
  sources: ConfigSources,
  before: Readonly<Settings>,
): unknown {
  const { env, schema, isPath } = definition
  const text = sources.env[env]
  const fromEnv = text === undefined ? undefined : fromText(text, schema)
  if (fromEnv !== undefined) return checked(env, fromEnv, definition)
  if (Object.hasOwn(sources.file, key)) return checked(`${sources.filePath}: ${key}`, sources.file[key], definition)
  const fallback: unknown = typeof definition.default === 'function' ? definition.default(before) : definition.default
  return isPath ? absolute(fallback) : fallback
}

function checked(name: string, value: unknown, definition: SettingDefinition): unknown {
  const { schema, secret, isPath, meaning } = definition
  if (Value.Check(schema, value) && !isBrokenUrl(value)) return isPath ? absolute(value) : value
  const shown = secret ? 'has a value that cannot be used' : `is ${JSON.stringify(value)?.slice(0, 80)}`
  throw new StartError(`${name} ${shown}, but ${ruleOf(schema, value)} (${meaning}); correct it or remove it`)
}

/** Patterns accept hosts and ports that cannot exist; a request to them would fail only later. */
const isBrokenUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\/[^,]*$/.test(value) && !URL.canParse(value)

const absolute = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((path) => resolve(path)) : typeof value === 'string' ? resolve(value) : value

interface Form {
  type?: string
  enum?: unknown[]
  anyOf?: TSchema[]
  items?: TSchema
  description?: string
}

const formsOf = (schema: TSchema): Form[] => (schema as Form).anyOf?.map((one) => one as Form) ?? [schema as Form]

/** An empty text becomes null if the schema allows null, stays empty if it allows that, and otherwise counts as not set. */
function fromText(text: string, schema: TSchema): unknown {
  const forms = formsOf(schema)
  if (text.trim() === '') {
    if (forms.some(({ type }) => type === 'null')) return null
    return Value.Check(schema, '') ? '' : undefined
  }
  for (const form of forms) {
    if (form.type === 'array') {
      const parts = text.split(',').map((part) => part.trim())
      return parts.filter((part) => part !== '').map((part) => fromText(part, form.items ?? {}))
    }
    if ((form.type === 'integer' || form.type === 'number') && /^-?\d+(\.\d+)?$/.test(text.trim())) return Number(text)
    if (form.type === 'boolean' && /^(true|1|yes|on)$/i.test(text.trim())) return true
    if (form.type === 'boolean' && /^(false|0|no|off)$/i.test(text.trim())) return false
  }
  return text
}

function ruleOf(schema: TSchema, value: unknown): string {
  const forms = formsOf(schema)
  const described = (schema as Form).description ?? forms.find(({ description }) => description)?.description
  if (described) return `must be ${described}`
  const words = forms.flatMap((form) => form.enum ?? [])
  if (words.length > 0) return `must be one of ${words.join(', ')}`
  if (forms[0]?.type === 'boolean') return 'must be true or false'
  return [...Value.Errors(forms[0] as TSchema, value)][0]?.message ?? 'has another form'
}

function readFile(path: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '') // as Windows begins a text
  } catch (error) {
    // ENOTDIR: the data folder itself is a file, which is reported when the folder is created.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw new StartError(`${path} cannot be read (${code}); correct its permissions`, { cause: error })
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The parser's message quotes the file, which may contain a password, and is not shown.
    throw new StartError(`${path} is not JSON; correct it or remove it`)
  }
  throw new StartError(`${path} must contain a JSON object, such as { "port": 8000 }`)
}

/** Node silently treats an unknown zone as UTC: days and schedules would be wrong. */
function checkTimeZone(zone: string | undefined): void {
  if (!zone || zone.startsWith(':')) return
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch (error) {
    throw new StartError(
      `TZ is ${JSON.stringify(zone)}, which is not a known time zone; use a name such as Europe/Vienna`,
      { cause: error },
    )
  }
}

function suggestion(name: string, names: Iterable<string>): string {
  const near = [...names].find((known) => distanceAtMostTwo(known, name))
  return near ? ` (did you mean ${near}?)` : ''
}

function distanceAtMostTwo(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 2) return false
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1]
    for (const [column, second] of [...other].entries()) {
      next.push(Math.min(next[column]! + 1, row[column + 1]! + 1, row[column]! + (letter === second ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)! <= 2
}
