/**
 * Preferences for requests to the platform: section `platform` of /api/config/, and the pause, which is in `downloads`
 * for historical reasons.
 */
import { type PreferencesOf, Type } from 'archivolt'
import { USUAL_PER_HOUR } from './budget.ts'

interface Words {
  title: string
  description: string
  'x-unit'?: string
  'x-group': 'pace' | 'route' | 'rules' | 'cookie'
  'x-wrong'?: string
  'x-code'?: boolean
  'x-secret'?: true
  'x-labels'?: Record<string, string>
  examples?: string[]
}

/** `false`: not set. */
const unset = Type.Literal(false)
const line = (pattern: string, words: Words) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 500, pattern }), unset], { default: false, ...words })
const orNone = (minimum: number, maximum: number, usual: number, words: Words) =>
  Type.Union([Type.Integer({ minimum, maximum }), unset], { default: usual, ...words })
const choice = <const Value extends string>(values: Value[], words: Words) =>
  Type.Enum(values, { default: values[0], ...words })

const words = (said: Words): Words => said

const CLIENT = '[a-z][a-z0-9_]{1,39}'

export const platform = {
  downloads_at_once: Type.Integer({
    minimum: 1,
    maximum: 3,
    default: 1,
    ...words({
      title: 'Downloads at once',
      description: 'One is safest. The pauses and the limit below apply to all downloads together.',
      'x-unit': 'videos',
      'x-group': 'pace',
    }),
  }),
  request_pause: Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 1,
    ...words({
      title: 'Pause between two requests',
      description: 'Looking up one video or list takes several requests. The actual pause varies up to double.',
      'x-unit': 'seconds',
      'x-group': 'pace',
    }),
  }),
  subtitle_pause: Type.Integer({
    minimum: 0,
    maximum: 600,
    default: 5,
    ...words({
      title: 'Pause before each subtitle file',
      description: 'YouTube limits subtitles most. The actual pause varies up to double.',
      'x-unit': 'seconds',
      'x-group': 'pace',
    }),
  }),
  videos_per_hour: orNone(10, 10_000, USUAL_PER_HOUR, {
    title: 'Lookups per hour (max.)',
    description:
      'YouTube usually allows about 300 without a cookie. If it blocks us, the limit is halved and then raised again. Empty: no limit.',
    'x-unit': 'videos',
    'x-group': 'pace',
  }),
  proxy: line('^(https?|socks4a?|socks5h?)://[^\\s/?#]+/?$', {
    title: 'Proxy',
    description: 'Used for all requests to YouTube, and for nothing else. Empty: no proxy.',
    'x-wrong': 'Enter an address such as http://192.168.1.2:3128 or socks5h://name:password@proxy.example:1080',
    'x-secret': true,
    'x-code': true,
    'x-group': 'route',
    examples: ['socks5h://127.0.0.1:1080'],
  }),
  ip_version: choice(['any', '4', '6'], {
    title: 'Internet protocol',
    description: 'YouTube blocks some networks over only one of the two.',
    'x-labels': { any: 'Whichever works', '4': 'IPv4 only', '6': 'IPv6 only' },
    'x-group': 'route',
  }),
  source_address: line('^[0-9A-Fa-f:.]{2,45}$', {
    title: 'Source IP address',
    description: 'If this machine has several addresses: the one to use for YouTube.',
    'x-wrong': 'Enter an IP address of this machine, such as 192.168.1.20',
    'x-code': true,
    'x-group': 'route',
    examples: ['192.168.1.20'],
  }),
  token_provider: line('^https?://[^\\s/?#@]+(/[^\\s?#]*)?$', {
    title: 'Token provider',
    description:
      'Address of a server that proves to YouTube that we’re not a bot (bgutil-ytdlp-pot-provider). Some videos are only complete with it.',
    'x-wrong': 'Enter an address such as http://127.0.0.1:4416',
    'x-code': true,
    'x-group': 'route',
    examples: ['http://127.0.0.1:4416'],
  }),
  player_clients: line(`^${CLIENT}(,${CLIENT}){0,19}$`, {
    title: 'YouTube clients to use',
    description: 'Values of “player_client”, separated by commas; no others are used. Empty: yt-dlp chooses.',
    'x-wrong': 'Enter names separated by commas, such as default,web_safari',
    'x-code': true,
    'x-group': 'rules',
    examples: ['default,web_safari'],
  }),
  cookie_use: choice(['always', 'needed'], {
    title: 'When to use the cookie',
    description: 'YouTube may lock an account that makes very many requests. “Only when needed” reduces that risk.',
    'x-labels': { always: 'Always', needed: 'Only when needed' },
    'x-group': 'cookie',
  }),
}
export type PlatformPreferences = PreferencesOf<typeof platform>

/** The preference is in the section `downloads`, where clients have always found it. */
export const pauseOfDownloads = {
  sleep_interval: orNone(0, 3600, 5, {
    title: 'Pause between two videos',
    description: 'If the pause is too short, YouTube blocks us. The actual pause varies up to double.',
    'x-unit': 'seconds',
    'x-group': 'pace',
  }),
}

declare module 'archivolt' {
  interface DownloadPreferences extends PreferencesOf<typeof pauseOfDownloads> {}
  interface PreferenceValues {
    platform: PlatformPreferences
    downloads: DownloadPreferences
  }
}
