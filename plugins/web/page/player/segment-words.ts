/** The categories of segments, and their names. */
import type { UserPreferences } from '../server/records.ts'
import { type PlainKey, t } from '../texts/lookup.ts'

export type Category = keyof NonNullable<UserPreferences['segments']>

const NAMES = {
  sponsor: 'segment.sponsor',
  selfpromo: 'segment.selfpromo',
  interaction: 'segment.interaction',
  intro: 'segment.intro',
  outro: 'segment.outro',
  preview: 'segment.preview',
  filler: 'segment.filler',
  music_offtopic: 'segment.music_offtopic',
} satisfies Record<Category, PlainKey>

export const CATEGORIES = Object.keys(NAMES) as Category[]

export const isCategory = (category: string): category is Category => Object.hasOwn(NAMES, category)

/** Undefined: an unknown category, which a restored backup may contain. */
export const categoryName = (category: string): string | undefined =>
  isCategory(category) ? t(NAMES[category]) : undefined
