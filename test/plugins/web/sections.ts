/** The sections of the settings that an admin has, as they stand. */
export const SECTIONS = [
  'account',
  'look',
  'downloads',
  'subscriptions',
  'playback',
  'moving',
  'cookie',
  'health',
  'schedules',
  'notifications',
  'webhooks',
  'tasks',
  'snapshots',
  'backups',
  'users',
  'plugins',
]
