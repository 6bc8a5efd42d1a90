/**
 * The quality setting in plain words: declared once, used in the section `downloads` of /api/config/ and in a channel's
 * overwrites. The page shows the fields that have a title.
 */
import { type PreferencesOf, Type } from 'archivolt'

export const quality = {
  quality_height: Type.Union([Type.Integer({ minimum: 144, maximum: 4320 }), Type.Literal(false)], { default: false }),
  quality_codec: Type.Enum(['best', 'compatible', 'smallest', 'sound'], {
    default: 'best',
    title: 'File type',
    description: 'Old televisions and tablets play H.264 only, which YouTube has up to 1080p.',
    'x-labels': {
      best: 'The best picture',
      compatible: 'Plays everywhere',
      smallest: 'The smallest file',
      sound: 'Audio only (m4a)',
    },
    'x-group': 'quality',
  }),
  quality_hdr: Type.Boolean({
    default: true,
    title: 'HDR if available',
    description: 'Without HDR, colours look right on every screen.',
    'x-group': 'quality',
  }),
  quality_language: Type.Union(
    [Type.String({ minLength: 2, maxLength: 10, pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$' }), Type.Literal(false)],
    {
      default: false,
      title: 'Audio language',
      description: 'If none is chosen: the original language of the video, never a dubbed one.',
      'x-wrong': 'Choose one language, or enter a code such as en or pt-BR',
      'x-languages': 'one',
      'x-group': 'quality',
      examples: ['en'],
    },
  ),
  quality_missing: Type.Enum(['below', 'wait', 'skip'], {
    default: 'below',
    title: 'If that isn’t available',
    description: 'New videos are often available in HD only after a few hours.',
    'x-labels': { below: 'Use the best available', wait: 'Wait for it', skip: 'Skip the video' },
    'x-group': 'quality',
  }),
  quality_wait_days: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 7,
    title: 'Wait for at most',
    description: 'Counted from publication. After that, the best available version is downloaded.',
    'x-unit': 'days',
    'x-group': 'quality',
  }),
}
/**
 * Condition for the yt-dlp rule that the page wrote before this setting existed: `vcodec:h264,res:1080,acodec:aac`, or
 * parts of it.
 */
const OURS = `section = 'downloads' AND key = 'format_sort'
  AND (value = '"vcodec:h264,acodec:aac"' OR value GLOB '"res:[0-9][0-9][0-9]"' OR value GLOB '"res:[0-9][0-9][0-9][0-9]"'
    OR value GLOB '"vcodec:h264,res:[0-9][0-9][0-9],acodec:aac"' OR value GLOB '"vcodec:h264,res:[0-9][0-9][0-9][0-9],acodec:aac"')
  AND NOT EXISTS (SELECT 1 FROM preferences WHERE section = 'downloads' AND key = 'format' AND value <> 'false')`

export const wordsForRules = {
  number: 2,
  sql: `
INSERT INTO preferences (section, key, value)
  SELECT section, 'quality_codec', '"compatible"' FROM preferences WHERE ${OURS} AND value LIKE '"vcodec%';
INSERT INTO preferences (section, key, value)
  SELECT section, 'quality_height', CAST(CAST(substr(value, instr(value, 'res:') + 4) AS INTEGER) AS TEXT)
  FROM preferences WHERE ${OURS} AND instr(value, 'res:') > 0;
UPDATE preferences SET value = 'false' WHERE ${OURS};`,
}

export type QualityPreferences = PreferencesOf<typeof quality>

declare module 'archivolt' {
  interface DownloadPreferences extends QualityPreferences {}
}
