/** Preferences for the second site: the `offsite` section of /api/config/. */
import { isAbsolute, relative } from 'node:path'
import { type AppOf, type PreferencesOf, say, Type, type Words } from 'archivolt'

const group = { 'x-group': 'offsite' }
const secret = { 'x-secret': 'whole' }
const kept = (title: string, value: number, unit: string) =>
  Type.Integer({ ...{ minimum: 0, maximum: 1000, default: value, title, 'x-unit': unit }, ...group })

export const offsite = {
  repository: Type.String({
    default: '',
    maxLength: 2000,
    title: 'Repository',
    description:
      'A folder on another disk, or an address for restic: sftp:user@host:/path, s3:https://host/bucket, rest:https://host/, rclone:remote:path. Empty: no second site.',
    'x-secret': true,
    ...group,
  }),
  password: Type.String({
    default: '',
    maxLength: 200,
    title: 'Password of the repository',
    description: 'Encrypts everything there. Keep it elsewhere too: without it, nothing can be restored.',
    ...secret,
    ...group,
  }),
  access_key: Type.String({ ...{ default: '', maxLength: 200, title: 'S3 access key' }, ...group }),
  secret_key: Type.String({ ...{ default: '', maxLength: 200, title: 'S3 secret key' }, ...secret, ...group }),
  films: Type.Enum(['none', 'only_here', 'kept', 'all'], {
    default: 'all',
    title: 'Video files',
    description:
      'Records, pictures and settings are always copied. Video files follow in this order: only here, kept, all others.',
    'x-labels': { none: 'None', only_here: 'Only here', kept: 'Only here, and kept', all: 'All' },
    ...group,
  }),
  upload: Type.Integer({
    ...{ minimum: 0, maximum: 10_000, default: 0, title: 'Upload speed limit', description: '0: no limit.' },
    'x-unit': 'MB/s',
    ...group,
  }),
  days: kept('Keep a backup of each of the last', 7, 'days'),
  weeks: kept('and of each of the last', 5, 'weeks'),
  months: kept('and of each of the last', 12, 'months'),
}

/** Whether it is an address such as `sftp:…`; everything else is a folder. */
const isElsewhere = (repository: string): boolean => /^[a-z0-9]+:/.test(repository)

/** Refuses a repository in the archive's own folders: it would contain itself, and be lost together with them. */
export async function judgeRepository(
  { repository = '' }: { repository?: string },
  { settings: { dataDir, mediaDir, cacheDir } }: AppOf<'media'>,
): Promise<Record<string, Words>> {
  if (repository === '' || isElsewhere(repository)) return {}
  if (!isAbsolute(repository))
    return { repository: say`must be an absolute path, or an address such as sftp:user@host:/path` }
  const inside = [dataDir, mediaDir, cacheDir].some((folder) => !relative(folder, repository).startsWith('..'))
  return inside ? { repository: say`must be outside of the archive’s own folders, on another disk` } : {}
}

declare module 'archivolt' {
  interface PreferenceValues {
    offsite: PreferencesOf<typeof offsite>
  }
}
