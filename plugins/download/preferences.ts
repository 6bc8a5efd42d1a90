/** The download settings that people change while it runs: the `downloads` section of /api/config/ (contract 4.1). */
import { Type } from 'archivolt'

const unsetOr = (schema: ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>) =>
  Type.Union([schema, Type.Literal(false)])
const kibibytes = unsetOr(Type.Integer({ minimum: 1, maximum: 10_000_000 }))
const line = (maxLength: number, pattern?: string) =>
  unsetOr(Type.String({ minLength: 1, maxLength, ...(pattern && { pattern }) }))
const flag = (value: boolean) => ({ schema: Type.Boolean(), default: value })

/** Up to four numbers or `all`, as yt-dlp takes them: comments, threads, replies, replies a thread. */
const COMMENT_LIMITS = '^(all|\\d{1,7})(,(all|\\d{1,7})){0,3}$'
const LANGUAGES = '^-?[A-Za-z]{2}[A-Za-z0-9_.*-]{0,22}(,-?[A-Za-z]{2}[A-Za-z0-9_.*-]{0,22}){0,29}$'

export const downloadPreferences = {
  downloads: {
    limit_speed: { schema: kibibytes, default: false },
    throttledratelimit: { schema: kibibytes, default: false },
    sleep_interval: { schema: unsetOr(Type.Integer({ minimum: 0, maximum: 3600 })), default: 3 },
    autodelete_days: { schema: unsetOr(Type.Integer({ minimum: 1, maximum: 36_500 })), default: false },
    format: { schema: line(500), default: false },
    format_sort: { schema: line(500, '^[A-Za-z0-9_:~,.+ -]+$'), default: false },
    extractor_lang: { schema: line(10, '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$'), default: false },
    subtitle: { schema: line(300, LANGUAGES), default: false },
    subtitle_source: {
      schema: Type.Union([Type.Literal('user'), Type.Literal('auto'), Type.Literal(false)]),
      default: false,
    },
    subtitle_index: flag(false),
    comment_max: { schema: line(40, COMMENT_LIMITS), default: false },
    comment_sort: { schema: Type.Enum(['top', 'new']), default: 'top' },
    add_metadata: flag(false),
    add_thumbnail: flag(false),
    cookie_import: flag(false),
    integrate_ryd: flag(false),
    integrate_sponsorblock: flag(false),
  },
}

export interface DownloadPreferences {
  /** KiB/s */
  limit_speed: number | false
  throttledratelimit: number | false
  /** Seconds between two items. */
  sleep_interval: number | false
  autodelete_days: number | false
  format: string | false
  format_sort: string | false
  extractor_lang: string | false
  subtitle: string | false
  subtitle_source: 'user' | 'auto' | false
  subtitle_index: boolean
  comment_max: string | false
  comment_sort: 'top' | 'new'
  add_metadata: boolean
  add_thumbnail: boolean
  cookie_import: boolean
  integrate_ryd: boolean
  integrate_sponsorblock: boolean
}

declare module 'archivolt' {
  interface PreferenceValues {
    downloads: DownloadPreferences
  }
}
