/** The installation's preferences: loaded once for all sections, and changed key by key. */
import { signal, useComputed } from '@preact/signals'
import { get, post } from '../../server/api.ts'
import type { Preferences, PreferencesSchema } from '../../server/records.ts'
import { openChanges } from '../../stores/changes.ts'
import { type Load, PREFERENCES_KEY, useLoad } from '../../stores/load.ts'
import { readSession } from '../../stores/session.ts'
import { textOf } from '../../texts/lookup.ts'
import type { OptionSchema } from './option-schema.ts'

export type Change = { [Section in keyof Preferences]?: Partial<Preferences[Section]> }

export interface OpenPreferences extends Load<Preferences> {
  /** Saves all changes or none. @throws Failure */
  save(change: Change): Promise<void>
}

const changes = openChanges<Change>()
/** The schema, which changes only with an update of the server. */
const schema = signal<PreferencesSchema>({})

interface PreferenceName {
  section: string
  key: string
}

const partsOf = (name: string): PreferenceName => {
  const [section = '', key = ''] = name.split('.')
  return { section, key }
}

/** @param name  such as `downloads.format` */
export function preferenceSchema(name: string): OptionSchema {
  const { section, key } = partsOf(name)
  return (schema.value[section]?.properties[key] ?? {}) as OptionSchema
}

/** Title and description: the page's texts take precedence over the plugin's. */
export function preferenceWords(name: string): { label: string; hint: string; wrong: string } {
  const { title = name, description = '', 'x-wrong': wrong = '' } = preferenceSchema(name)
  return {
    label: textOf(`preference.${name}`, title),
    hint: textOf(`preference.${name}.hint`, description),
    wrong: textOf(`preference.${name}.wrong`, wrong),
  }
}

/** The names of visible preferences by group, such as `downloads.limit_speed`. */
export function preferencesByGroup(): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const [section, { properties }] of Object.entries(schema.value)) {
    for (const key of Object.keys(properties)) {
      const { title, 'x-group': group = section } = preferenceSchema(`${section}.${key}`)
      if (title !== undefined) groups.set(group, [...(groups.get(group) ?? []), `${section}.${key}`])
    }
  }
  return groups
}

/** Visible preferences for which a channel may have its own value. */
export const preferencesPerChannel = (): PreferenceName[] =>
  [...preferencesByGroup().values()]
    .flat()
    .filter((name) => preferenceSchema(name)['x-per-channel'] === true)
    .map(partsOf)

/** Includes changes that are not confirmed yet, so that further changes build on them. */
export function usePreferences(): OpenPreferences {
  const load = useLoad<Preferences>(PREFERENCES_KEY, async (ending) => {
    const [preferences, described] = await Promise.all([
      get<Preferences>('/api/config/', {}, ending),
      get<PreferencesSchema>('/api/config/schema/', {}, ending),
    ])
    schema.value = described
    return preferences
  })
  const now = useComputed(() => {
    const loaded = load.now.value
    return loaded.state === 'ready' ? { ...loaded, value: changes.now.value.reduce(merge, loaded.value) } : loaded
  })
  const save = (change: Change) =>
    changes.during(change, async () => {
      const preferences = await post<Preferences>('/api/config/', change)
      load.change(() => preferences)
      // The session depends on these preferences.
      if (change.dearrow || change.downloads?.integrate_sponsorblock !== undefined) await readSession()
    })
  return { ...load, now, save }
}

function merge(preferences: Preferences, change: Change): Preferences {
  const sections = Object.entries(preferences).map(([section, values]) => [
    section,
    { ...values, ...change[section as keyof Preferences] },
  ])
  // The keys are those of `Preferences`, but `fromEntries` loses their type.
  return Object.fromEntries(sections) as unknown as Preferences
}

/** A schedule as the page offers it. `own`: any other cron text. */
export interface Plan {
  /** `hours:6`: every six hours. */
  often: 'never' | 'daily' | 'weekly' | `hours:${number}` | 'own'
  /** `08:30` */
  time: string
  /** 0: Sunday. */
  weekday: string
}

const CRON = /^(\d{1,2}) (\*|\*\/(?:2|3|4|6|8|12)|\d{1,2}) (\*|[0-6])$/

export function readPlan(cron: string): Plan {
  const [, minute, hour, weekday] = CRON.exec(cron) ?? []
  if (minute === undefined || hour === undefined || weekday === undefined)
    return { often: 'own', time: '08:00', weekday: '0' }
  const isHourly = hour.startsWith('*')
  if (isHourly && weekday !== '*') return { often: 'own', time: '08:00', weekday: '0' }
  const two = (text: string) => text.padStart(2, '0')
  const time = `${isHourly ? '00' : two(hour)}:${two(minute)}`
  if (isHourly) return { often: `hours:${Number(hour.slice(2) || 1)}`, time, weekday: '0' }
  return { often: weekday === '*' ? 'daily' : 'weekly', time, weekday: weekday === '*' ? '0' : weekday }
}

export function writePlan({ often, time, weekday }: Plan): string {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  const every = /^hours:(\d+)$/.exec(often)?.[1]
  if (every) return `${minute} ${every === '1' ? '*' : `*/${every}`} *`
  return `${minute} ${hour} ${often === 'weekly' ? weekday : '*'}`
}
