/** Preferences for reading files: the `checksums` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

const group = { 'x-group': 'reading' }
const hour = (title: string, value: number) =>
  Type.Integer({ ...{ minimum: 0, maximum: 23, default: value, title, 'x-unit': 'o’clock' }, ...group })

export const checksums = {
  period: Type.Integer({
    minimum: 0,
    maximum: 365,
    default: 30,
    title: 'Read every file once in',
    description: 'Each file is compared with its checksum. 0 switches this off.',
    'x-unit': 'days',
    ...group,
  }),
  pace: Type.Integer({
    ...{ minimum: 1, maximum: 10_000, default: 20, title: 'Reading speed limit', 'x-unit': 'MB/s' },
    ...group,
  }),
  from: hour('Start at', 1),
  until: hour('Stop at', 7),
}

declare module 'archivolt' {
  interface PreferenceValues {
    checksums: PreferencesOf<typeof checksums>
  }
}
