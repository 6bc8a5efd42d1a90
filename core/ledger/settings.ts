/** Settings that people change while it runs: sections of keys that plugins declare. */
import type { TSchema } from 'typebox'

export interface PreferenceDefinition {
  schema: TSchema
  default: unknown
}
/** Section → key → form and default. Several plugins may bring keys of one section. */
export type PreferenceSections = Record<string, Record<string, PreferenceDefinition>>

/** Section → key → value type. `declare module 'archivolt' { interface PreferenceValues { downloads: { … } } }`. */
export interface PreferenceValues {}

export interface Preferences {
  /** A section's values, defaults filled in. Frozen; read anew after a change. */
  section<Name extends keyof PreferenceValues & string>(name: Name): Readonly<PreferenceValues[Name]>
  all(): Record<string, Record<string, unknown>>
  /** Changes all or nothing. @throws bad_request with `fields` */
  change(changes: Record<string, unknown>): Promise<void>
  /** Called after each change. */
  watch(listener: () => void): void
}
