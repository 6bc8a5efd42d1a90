/**
 * Preferences of downloads: the section `downloads` of /api/config/ and of every envelope (contract 4.1). The page
 * shows those with a title.
 */
import { type PreferencesOf, Type } from 'archivolt'

interface Words {
  title: string
  description?: string
  'x-unit'?: string
  'x-factor'?: number
  /** The group on the page. */
  'x-group': string
  'x-wrong'?: string
  'x-code'?: boolean
  'x-languages'?: 'one' | 'several'
  examples?: string[]
}

/** `false`: not set. */
const unset = Type.Literal(false)
const flag = (words: Words) => Type.Boolean({ default: false, ...words })
const number = (minimum: number, maximum: number, words: Words) =>
  Type.Union([Type.Integer({ minimum, maximum }), unset], { default: false, ...words })
const line = (maxLength: number, words: Words, pattern?: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength, ...(pattern && { pattern }) }), unset], {
    default: false,
    ...words,
  })

const MOST_KIB = 10_000_000
/** Stored in KiB/s, shown in MB/s. */
const KIB_AS_MB = { 'x-unit': 'MB/s', 'x-factor': 1024 / 1_000_000 }
/** Up to four values, each a number or `all`, as in yt-dlp: comments, threads, replies, replies per thread. */
const COMMENT_LIMITS = '^(all|\\d{1,7})(,(all|\\d{1,7})){0,3}$'
const LANGUAGES = '^-?[A-Za-z]{2}[A-Za-z0-9_.*-]{0,22}(,-?[A-Za-z]{2}[A-Za-z0-9_.*-]{0,22}){0,29}$'

export const downloads = {
  limit_speed: number(1, MOST_KIB, {
    title: 'Speed limit',
    description: 'Empty: no limit.',
    ...KIB_AS_MB,
    'x-group': 'pace',
  }),
  throttledratelimit: number(1, MOST_KIB, {
    title: 'Restart when slower than',
    description: 'YouTube is slowing us down then. Empty: never.',
    ...KIB_AS_MB,
    'x-group': 'rules',
  }),
  autodelete_days: number(1, 36_500, {
    title: 'Delete watched videos after',
    description: 'Empty: keep them. A channel can have its own rule.',
    'x-unit': 'days',
    'x-group': 'afterwards',
  }),
  format: line(500, {
    title: 'Format selection',
    description: 'As for “-f”. Empty: the best video with the best audio.',
    'x-wrong': 'At most 500 characters',
    'x-code': true,
    'x-group': 'rules',
    examples: ['bv*+ba[ext=m4a]/bv*+ba/b'],
  }),
  format_sort: line(
    500,
    {
      title: 'Format order',
      description: 'As for “-S”: what matters most comes first.',
      'x-wrong': 'Only letters, digits and , : ~ + . - _, at most 500',
      'x-code': true,
      'x-group': 'rules',
      examples: ['res:1080,vcodec:h264'],
    },
    '^[A-Za-z0-9_:~,.+ -]+$',
  ),
  extractor_lang: line(
    10,
    {
      title: 'Language of titles',
      description: 'If none is chosen: as the channel wrote them.',
      'x-wrong': 'Choose one language, or enter a code such as en or pt-BR',
      'x-languages': 'one',
      'x-group': 'quality',
      examples: ['en'],
    },
    '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$',
  ),
  subtitle: line(
    300,
    {
      title: 'Languages',
      description: 'Each includes its variants: English, for example, also American English.',
      'x-wrong': 'Choose languages, or enter codes such as en or pt-BR',
      'x-languages': 'several',
      'x-group': 'subtitles',
    },
    LANGUAGES,
  ),
  subtitle_source: Type.Union([Type.Literal('user'), Type.Literal('auto'), unset], { default: false }),
  subtitle_index: flag({
    title: 'Search what’s said',
    description: 'Results open the video at the right second. Takes some space.',
    'x-group': 'subtitles',
  }),
  comment_max: line(40, { title: 'Save comments', 'x-group': 'comments' }, COMMENT_LIMITS),
  comment_sort: Type.Enum(['top', 'new'], {
    default: 'top',
    title: 'Comment order',
    'x-labels': { top: 'Most liked', new: 'Newest' },
    'x-group': 'comments',
  }),
  add_metadata: flag({
    title: 'Write title and description into the file',
    description: 'So that other players can show them.',
    'x-group': 'quality',
  }),
  add_thumbnail: flag({ title: 'Write the thumbnail into the file', 'x-group': 'quality' }),
  cookie_import: flag({
    title: 'Use the cookie',
    description: 'The cookie stays stored while this is off.',
    'x-group': 'cookie',
  }),
  integrate_ryd: flag({
    title: 'Estimate dislikes',
    description: 'A public service is queried for each video, so it learns which videos you have:',
    'x-group': 'watching',
  }),
  integrate_sponsorblock: flag({
    title: 'Skip sponsors and intros',
    description: 'Uses SponsorBlock’s crowdsourced timings. SponsorBlock is queried for each video.',
    'x-group': 'watching',
  }),
}

declare module 'archivolt' {
  interface DownloadPreferences extends PreferencesOf<typeof downloads> {}
  interface PreferenceValues {
    downloads: DownloadPreferences
  }
}
