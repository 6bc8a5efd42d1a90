/** Every core setting: type, default, environment name. A plugin declares its own in its manifest. */
import { type TSchema, Type } from 'typebox'

/** Values by key. Plugins add theirs: `declare module 'archivolt' { interface Settings { mediaDir: string } }`. */
export interface Settings {
  host: string
  port: number
  /** Starts and ends with `/`. */
  basePath: string
  /** Absolute. */
  dataDir: string
  username: string
  password: string | null
  trustedProxies: string[]
  /** In lower case. */
  forwardedUser: string | null
  sendFileHeader: 'X-Accel-Redirect' | 'X-Sendfile' | null
  publicUrl: string | null
  corsOrigins: string[]
  prefix: string
  pageSize: number
  pluginsDir: string[]
  pluginsOff: string[]
  pluginsStrict: boolean
  logLevel: string
  debug: boolean
}

/**
 * A setting of the environment or `<data>/config.json`. The value's type is declared by `interface Settings` in module
 * 'archivolt'.
 */
export interface SettingDefinition {
  /** `AV_…` */
  env: string
  schema: TSchema
  /** The value, or a function of the settings read before. */
  default: unknown | ((settings: Readonly<Settings>) => unknown)
  /** One line for people. */
  meaning: string
  /** Never shown or logged. */
  secret?: boolean
  /** A path or a list of paths. Relative ones are resolved against the working directory; the value is absolute. */
  isPath?: boolean
}

const optional = (limits: object = {}) => Type.Union([Type.String({ minLength: 1, ...limits }), Type.Null()])

export const NETWORKS = 'a list of addresses or networks, such as 10.0.0.2 or 10.0.0.0/8'

/** The largest page size that the installation or a user may choose. */
export const MOST_PER_PAGE = 200

/** A schema's `description` completes "must be …" in the message about a wrong value. */
export const coreSettings: Record<string, SettingDefinition> = {
  host: {
    env: 'AV_HOST',
    schema: Type.String({ minLength: 1 }),
    default: '127.0.0.1',
    meaning: 'address to listen on; `0.0.0.0` for all',
  },
  port: {
    env: 'AV_PORT',
    schema: Type.Integer({ minimum: 0, maximum: 65535, description: 'a port, 0 to 65535' }),
    default: 8000,
    meaning: 'port to listen on; 0 takes a free one',
  },
  basePath: {
    env: 'AV_BASE_PATH',
    schema: Type.String({
      pattern: '^/([A-Za-z0-9._~-]+/)*$',
      description: 'a path that starts and ends with a slash',
    }),
    default: '/',
    meaning: 'sub-path behind a proxy',
  },
  dataDir: {
    env: 'AV_DATA_DIR',
    schema: Type.String({ minLength: 1 }),
    default: 'data',
    isPath: true,
    meaning: 'ledger, embedded index, secret key, cookie; `snapshots/`, `backups/`',
  },
  username: {
    env: 'AV_USERNAME',
    schema: Type.String({ minLength: 1, maxLength: 150 }),
    default: 'admin',
    meaning: 'name of the first admin; first start only',
  },
  password: {
    env: 'AV_PASSWORD',
    schema: optional({ maxLength: 1000 }),
    default: null,
    secret: true,
    meaning: 'password of the first admin; first start only; unset: random, in `<data>/first-password`',
  },
  trustedProxies: {
    env: 'AV_TRUSTED_PROXIES',
    schema: Type.Array(Type.String({ pattern: '^([0-9A-Fa-f:.]+(/[0-9]{1,3})?|loopback|linklocal|uniquelocal)$' }), {
      description: NETWORKS,
    }),
    default: [],
    meaning: 'proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted',
  },
  forwardedUser: {
    env: 'AV_FORWARDED_USER',
    schema: optional({ pattern: '^[a-z0-9-]+$', maxLength: 100, description: 'a name of a header in lower case' }),
    default: null,
    meaning:
      'header (in lower case) in which a trusted proxy sends the name of the signed-in user, such as `remote-user`',
  },
  sendFileHeader: {
    env: 'AV_SEND_FILE_HEADER',
    schema: Type.Union([Type.Enum(['X-Accel-Redirect', 'X-Sendfile']), Type.Null()], {
      description: 'X-Accel-Redirect or X-Sendfile',
    }),
    default: null,
    meaning:
      'header that tells a trusted proxy to send a file itself: `X-Accel-Redirect` (nginx, Caddy) or `X-Sendfile` (Apache, lighttpd)',
  },
  publicUrl: {
    env: 'AV_PUBLIC_URL',
    schema: Type.Union([Type.String({ pattern: '^https?://[^\\s/?#@]+/([^\\s?#]*/)?$' }), Type.Null()], {
      description: 'a URL that starts with http:// or https:// and ends with a slash',
    }),
    default: null,
    meaning: 'public address of this server, for links in messages and feeds; unset: from each request',
  },
  corsOrigins: {
    env: 'AV_CORS_ORIGINS',
    schema: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9+.-]*://[^/\\s,]+$' }), {
      description: 'a list of origins, such as https://archive.example, without a path',
    }),
    default: [],
    meaning: 'further origins whose pages may call the API',
  },
  prefix: {
    env: 'AV_PREFIX',
    schema: Type.String({ pattern: '^[a-z][a-z0-9]{0,15}$', description: 'up to 16 of a-z and 0-9, a letter first' }),
    default: 'av',
    meaning: 'prefix of the names of collections, snapshots and backups',
  },
  pageSize: {
    env: 'AV_PAGE_SIZE',
    schema: Type.Integer({ minimum: 1, maximum: MOST_PER_PAGE, description: `a number from 1 to ${MOST_PER_PAGE}` }),
    default: 12,
    meaning: 'records per page, unless the user has chosen another number',
  },
  pluginsDir: {
    env: 'AV_PLUGINS_DIR',
    schema: Type.Array(Type.String({ minLength: 1 })),
    default: [],
    isPath: true,
    meaning: 'folders with extra plugins',
  },
  pluginsOff: {
    env: 'AV_PLUGINS_OFF',
    schema: Type.Array(Type.String({ minLength: 1 })),
    default: [],
    meaning: 'plugins to switch off, by name; `all`: all external plugins',
  },
  pluginsStrict: {
    env: 'AV_PLUGINS_STRICT',
    schema: Type.Boolean(),
    default: false,
    meaning: 'refuse to start with a broken plugin, instead of leaving it out; for authors',
  },
  logLevel: {
    env: 'AV_LOG_LEVEL',
    schema: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    meaning: 'how much is logged',
  },
  debug: { env: 'AV_DEBUG', schema: Type.Boolean(), default: false, meaning: 'add tracebacks to the results of tasks' },
}
