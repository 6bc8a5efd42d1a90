/** Preferences: values that an admin changes while the server runs, in sections with keys that plugins declare. */
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { errors, MOST_FIELDS } from '../base/error.ts'
import { isMasked, MASK, maskCredentials } from '../base/mask.ts'
import { say, sentenceOf, type Words } from '../base/say.ts'
import { faultsIn, isValid, prefixed } from '../base/validation.ts'
import { StartError } from '../start-error.ts'
import { isSealed } from './seal.ts'
import { PREFERENCE_VALUE } from './sealed-columns.ts'
import type { Ledger } from './sqlite.ts'

/**
 * Section → key → schema with a `default`. Several plugins may add keys to one section. The page shows preferences that
 * have a `title`, with `description` and `x-unit`, grouped by `x-group`; a number is
 * multiplied by `x-factor` for people. `x-secret` marks a value that may contain a
 * URL with user name and password: these are never shown again, and the value is sealed in the ledger. `x-secret:
 * 'whole'`: a text that is a secret as a whole, such as an API key; only whether it is set is shown.
 */
export type PreferenceSections = Record<string, Record<string, TSchema>>

/** The type of a section's values: `interface PreferenceValues { tide: PreferencesOf<typeof tide> }`. */
export type PreferencesOf<Keys extends Record<string, TSchema>> = { [Key in keyof Keys]: Static<Keys[Key]> }

/** Section → key → value type. `declare module 'archivolt' { interface PreferenceValues { downloads: { … } } }`. */
export interface PreferenceValues {}

export interface Preferences {
  /** A section's values, including defaults. Frozen: call again after a change. */
  section<Name extends keyof PreferenceValues & string>(name: Name): Readonly<PreferenceValues[Name]>
  /** All values for display: passwords in URLs are masked. Sending back a masked value changes nothing. */
  all(): Record<string, Record<string, unknown>>
  sections: Readonly<PreferenceSections>
  /** Changes all or nothing. @throws bad_request with `fields` */
  change(changes: Record<string, unknown>): Promise<void>
  /** Called before each change, to check new values of a section beyond the schema. */
  judge<Name extends keyof PreferenceValues & string>(section: Name, judge: Judge<PreferenceValues[Name]>): void
  /** Called after each change. */
  watch(listener: () => void): void
}

/** @returns the fault of each wrong key */
type Judge<Section> = (changed: Partial<Section>) => Promise<Record<string, Words>>

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** @throws StartError  a key declared twice, or a default that its schema refuses; names `leaveOut` */
export function joinSections(
  declared: ReadonlyArray<{ plugin: string; sections?: PreferenceSections; leaveOut?: string | undefined }>,
): PreferenceSections {
  const joined: PreferenceSections = {}
  const owners = new Map<string, string>()
  for (const { plugin, sections = {}, leaveOut } of declared) {
    for (const [section, keys] of Object.entries(sections)) {
      const known = (joined[section] ??= {})
      for (const [key, schema] of Object.entries(keys)) {
        const owner = owners.get(`${section}.${key}`)
        if (owner !== undefined)
          throw new StartError(`the plugins ${owner} and ${plugin} both declare the preference ${section}.${key}`, {
            leaveOut,
          })
        const title = `plugin ${plugin}: its preference ${section}.${key}`
        const value = defaultOf(schema)
        if (value === undefined) throw new StartError(`${title} has no \`default\`: give its schema one`, { leaveOut })
        if (!Value.Check(schema, value))
          throw new StartError(`${title} has a default that its schema refuses: ${JSON.stringify(value)}`, { leaveOut })
        owners.set(`${section}.${key}`, plugin)
        known[key] = schema
      }
    }
  }
  return joined
}

const defaultOf = (schema: TSchema): unknown => (schema as { default?: unknown }).default

/** Reads the stored values. A value that no longer fits its schema is replaced by the default. */
export function openPreferences({ ledger, sections }: { ledger: Ledger; sections: PreferenceSections }): Preferences {
  const listeners: Array<() => void> = []
  const judges: Array<{ section: string; judge: Judge<Record<string, unknown>> }> = []
  let values = read(ledger, sections)

  return {
    section<Name extends keyof PreferenceValues & string>(name: Name) {
      const section = values[name]
      if (!section) throw new Error(`No plugin declares the preference section ${name}`)
      return section as Readonly<PreferenceValues[Name]>
    },
    sections,
    all() {
      const all = structuredClone(values) as Record<string, Record<string, unknown>>
      for (const [section, keys] of Object.entries(all))
        for (const key in keys) keys[key] = shown(keys[key], schemaOf(sections, section, key))
      return all
    },
    async change(changes) {
      const wanted = checkChanges(changes, sections).filter(
        ({ section, key, value }) => !isAsShown(value, values[section]?.[key], schemaOf(sections, section, key)),
      )
      refuse(maskedFields(wanted, sections))
      const isChanged = ({ section, key, value }: Wanted) => !Value.Equal(value, values[section]?.[key])
      refuse(await judged(wanted.filter(isChanged), judges))
      await ledger.write(() => {
        const put = ledger.sql(
          'INSERT INTO preferences (section, key, value) VALUES (?, ?, ?) ON CONFLICT (section, key) DO UPDATE SET value = excluded.value',
        )
        for (const { section, key, value } of wanted) {
          const text = JSON.stringify(value)
          const isToSeal = isSecret(schemaOf(sections, section, key))
          put.run(section, key, isToSeal ? ledger.seal(PREFERENCE_VALUE, text) : text)
        }
      })
      values = read(ledger, sections)
      for (const listener of listeners) listener()
    },
    judge: (section, judge) => void judges.push({ section, judge: judge as Judge<Record<string, unknown>> }),
    watch: (listener) => void listeners.push(listener),
  }
}

interface Wanted {
  section: string
  key: string
  value: unknown
}

/** @returns the faults by `section.key` */
async function judged(
  wanted: readonly Wanted[],
  judges: ReadonlyArray<{ section: string; judge: Judge<Record<string, unknown>> }>,
): Promise<Record<string, Words>> {
  const fields: Record<string, Words> = {}
  for (const { section, judge } of judges) {
    const changed = wanted.filter((one) => one.section === section).map(({ key, value }) => [key, value] as const)
    if (changed.length === 0) continue
    for (const [key, fault] of Object.entries(await judge(Object.fromEntries(changed))))
      fields[`${section}.${key}`] = fault
  }
  return fields
}

/** @throws bad_request if there are faults */
function refuse(fields: Record<string, Words>): void {
  const [first] = Object.entries(fields)
  if (first) throw errors.badRequest(say`${{ place: first[0] }}: ${{ rule: sentenceOf(first[1]) }}`, { fields })
}

/** `section.key` of the preferences declared secret. */
export const secretPreferencesOf = (sections: PreferenceSections): string[] =>
  Object.entries(sections).flatMap(([section, keys]) =>
    Object.entries(keys).flatMap(([key, schema]) => (isSecret(schema) ? `${section}.${key}` : [])),
  )

const secrecyOf = (schema: TSchema | undefined) => (schema as { 'x-secret'?: true | 'whole' } | undefined)?.['x-secret']
const isWhole = (schema: TSchema | undefined): boolean => secrecyOf(schema) === 'whole'
const isSecret = (schema: TSchema | undefined): boolean => secrecyOf(schema) === true || isWhole(schema)

function shown(value: unknown, schema: TSchema | undefined): unknown {
  if (typeof value !== 'string' || !isSecret(schema)) return value
  if (isWhole(schema)) return value === '' ? '' : MASK
  return maskCredentials(value)
}

/** Whether the value is the masked form of the stored value. */
const isAsShown = (value: unknown, stored: unknown, schema: TSchema | undefined): boolean =>
  isSecret(schema) && value !== stored && value === shown(stored, schema)

/** The faults of masked values that are not the stored ones: for example from a backup of another installation. */
function maskedFields(wanted: readonly Wanted[], sections: PreferenceSections): Record<string, Words> {
  const fields: Record<string, Words> = {}
  for (const { section, key, value } of wanted) {
    const schema = schemaOf(sections, section, key)
    if (typeof value !== 'string' || !isSecret(schema)) continue
    if (isWhole(schema) && value === MASK) fields[`${section}.${key}`] = say`Enter it again: it is only shown as stars`
    else if (!isWhole(schema) && isMasked(value))
      fields[`${section}.${key}`] = say`Enter the name and password again: they are only shown as stars`
  }
  return fields
}

function read(ledger: Ledger, sections: PreferenceSections): Values {
  const values: Record<string, Record<string, unknown>> = {}
  for (const [section, keys] of Object.entries(sections)) {
    values[section] = Object.fromEntries(
      Object.entries(keys).map(([key, schema]) => [key, structuredClone(defaultOf(schema))]),
    )
  }
  for (const { section, key, value } of ledger
    .sql<{ section: string; key: string; value: string }>('SELECT section, key, value FROM preferences')
    .all()) {
    const schema = schemaOf(sections, section, key)
    if (!schema) continue // its plugin is not installed: stays stored until it is
    const text = isSealed(value) ? ledger.unseal(PREFERENCE_VALUE, value) : value
    if (text === undefined) continue // sealed with another secret key, which the start has reported
    const stored = ledger.json<unknown>(text, `preferences.${section}.${key}`, undefined)
    if (Value.Check(schema, stored)) values[section]![key] = stored
  }
  return deepFreeze(values)
}

function schemaOf(sections: PreferenceSections, section: string, key: string): TSchema | undefined {
  if (!Object.hasOwn(sections, section)) return undefined
  const keys = sections[section]
  return keys && Object.hasOwn(keys, key) ? keys[key] : undefined
}

function checkChanges(changes: Record<string, unknown>, sections: PreferenceSections): Wanted[] {
  const fields: Record<string, Words> = {}
  const wanted: Wanted[] = []
  for (const [section, keys] of Object.entries(changes)) {
    if (Object.keys(fields).length >= MOST_FIELDS) break
    if (!Object.hasOwn(sections, section)) fields[section] = say`Unknown section`
    else if (typeof keys !== 'object' || keys === null || Array.isArray(keys))
      fields[section] = say`Must be an object of settings`
    else {
      for (const [key, value] of Object.entries(keys)) {
        const schema = schemaOf(sections, section, key)
        if (!schema) fields[`${section}.${key}`] = say`Unknown setting`
        else if (isValid(schema, value) || (isWhole(schema) && value === MASK)) wanted.push({ section, key, value })
        else Object.assign(fields, prefixed(`${section}.${key}`, faultsIn(schema, value)))
      }
    }
  }
  refuse(fields)
  return wanted
}

function deepFreeze<Thing>(thing: Thing): Thing {
  if (typeof thing === 'object' && thing !== null && !Object.isFrozen(thing)) {
    Object.freeze(thing)
    for (const part of Object.values(thing)) deepFreeze(part)
  }
  return thing
}
