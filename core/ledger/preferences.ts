/** Preferences: what an admin changes while the server runs, in sections of keys that plugins declare. */
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { errors, MOST_FIELDS, StartError } from '../error.ts'
import { isMasked, maskCredentials } from '../mask.ts'
import { say, sentenceOf, type Words } from '../say.ts'
import { faultsIn, isValid, prefixed } from '../validation.ts'
import { isSealed } from './seal.ts'
import { PREFERENCE_VALUE } from './sealed-columns.ts'
import type { Ledger } from './sqlite.ts'

/**
 * Section → key → schema with its `default`. Several plugins may bring keys of one section. The page draws a preference
 * that has a `title`, with its `description` and `x-unit`, where others of its `x-group` stand. One that may hold a
 * name and password in a URL says `x-secret`: nobody is shown them again, and the ledger has it sealed.
 */
export type PreferenceSections = Record<string, Record<string, TSchema>>

/** What the values of a section are: `interface PreferenceValues { tide: PreferencesOf<typeof tide> }`. */
export type PreferencesOf<Keys extends Record<string, TSchema>> = { [Key in keyof Keys]: Static<Keys[Key]> }

/** Section → key → value type. `declare module 'archivolt' { interface PreferenceValues { downloads: { … } } }`. */
export interface PreferenceValues {}

export interface Preferences {
  /** A section's values, defaults filled in. Frozen; read anew after a change. */
  section<Name extends keyof PreferenceValues & string>(name: Name): Readonly<PreferenceValues[Name]>
  /** As they are shown: passwords in URLs are masked, and a masked value that comes back changes nothing. */
  all(): Record<string, Record<string, unknown>>
  /** What there is to change, as declared. */
  sections: Readonly<PreferenceSections>
  /** Changes all or nothing. @throws bad_request with `fields` */
  change(changes: Record<string, unknown>): Promise<void>
  /** Asked before each change for what no schema can tell of a section's new values. */
  judge<Name extends keyof PreferenceValues & string>(section: Name, judge: Judge<PreferenceValues[Name]>): void
  /** Called after each change. */
  watch(listener: () => void): void
}

/** @returns what is wrong, by key, in words */
type Judge<Section> = (changed: Partial<Section>) => Promise<Record<string, Words>>

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Joins what the plugins declare. @param declared.wayOut  the end of a sentence about this plugin
 * @throws StartError  two bring the same key, or one without a default that its schema takes
 */
export function joinSections(
  declared: ReadonlyArray<{ plugin: string; sections: PreferenceSections; wayOut?: string }>,
): PreferenceSections {
  const joined: PreferenceSections = {}
  const owners = new Map<string, string>()
  for (const { plugin, sections, wayOut = '' } of declared) {
    for (const [section, keys] of Object.entries(sections)) {
      const known = (joined[section] ??= {})
      for (const [key, schema] of Object.entries(keys)) {
        const owner = owners.get(`${section}.${key}`)
        if (owner !== undefined)
          throw new StartError(
            `the plugins ${owner} and ${plugin} both declare the preference ${section}.${key}${wayOut}`,
          )
        const title = `plugin ${plugin}: its preference ${section}.${key}`
        const value = defaultOf(schema)
        if (value === undefined) throw new StartError(`${title} has no \`default\`: give its schema one${wayOut}`)
        if (!Value.Check(schema, value))
          throw new StartError(`${title} has a default that its schema refuses: ${JSON.stringify(value)}${wayOut}`)
        owners.set(`${section}.${key}`, plugin)
        known[key] = schema
      }
    }
  }
  return joined
}

const defaultOf = (schema: TSchema): unknown => (schema as { default?: unknown }).default

/** Reads what is stored. A stored value that no longer fits (an older version's) gives way to the default. */
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
    all: () => mapped(values, (value, section, key) => shown(value, schemaOf(sections, section, key))),
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

const maskedFields = (wanted: readonly Wanted[], sections: PreferenceSections): Record<string, Words> =>
  Object.fromEntries(
    wanted
      .filter((one) => isOfAnother(one, sections))
      .map(({ section, key }) => [
        `${section}.${key}`,
        say`Enter the name and password again: the stars only stand for them`,
      ]),
  )

interface Wanted {
  section: string
  key: string
  value: unknown
}

/** @returns what is wrong, by `section.key` */
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

/** @throws bad_request, where something is wrong */
function refuse(fields: Record<string, Words>): void {
  const [first] = Object.entries(fields)
  if (first) throw errors.badRequest(say`${{ place: first[0] }}: ${{ rule: sentenceOf(first[1]) }}`, { fields })
}

/** `section.key` of those that are declared secret. */
export const secretPreferencesOf = (sections: PreferenceSections): string[] =>
  Object.entries(sections).flatMap(([section, keys]) =>
    Object.entries(keys).flatMap(([key, schema]) => (isSecret(schema) ? `${section}.${key}` : [])),
  )

const isSecret = (schema: TSchema | undefined): boolean => (schema as { 'x-secret'?: true })?.['x-secret'] === true

const shown = (value: unknown, schema: TSchema | undefined): unknown =>
  typeof value === 'string' && isSecret(schema) ? maskCredentials(value) : structuredClone(value)

/** It is what was shown of the value that is there. */
const isAsShown = (value: unknown, stored: unknown, schema: TSchema | undefined): boolean =>
  isSecret(schema) && value !== stored && value === shown(stored, schema)

/** It is what was shown of another value, such as that of the installation that a backup comes from. */
const isOfAnother = ({ section, key, value }: Wanted, sections: PreferenceSections): boolean =>
  typeof value === 'string' && isMasked(value) && isSecret(schemaOf(sections, section, key))

const mapped = (
  values: Values,
  of: (value: unknown, section: string, key: string) => unknown,
): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(values).map(([section, keys]) => [
      section,
      Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, of(value, section, key)])),
    ]),
  )

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
    if (!schema) continue // of a plugin that is not installed now: kept for when it is
    const text = isSealed(value) ? ledger.unseal(PREFERENCE_VALUE, value) : value
    if (text === undefined) continue // sealed with another secret key, which the start has told
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
    if (!Object.hasOwn(sections, section)) fields[section] = say`There is no such section`
    else if (typeof keys !== 'object' || keys === null || Array.isArray(keys))
      fields[section] = say`Must be an object of settings`
    else {
      for (const [key, value] of Object.entries(keys)) {
        const schema = schemaOf(sections, section, key)
        if (!schema) fields[`${section}.${key}`] = say`Unknown setting`
        else if (isValid(schema, value)) wanted.push({ section, key, value })
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
