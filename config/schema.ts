/** Every core setting: type, default, environment name. A plugin declares its own in its manifest. */
import { Type } from 'typebox'
import type { SettingDefinition } from '../core/plugin/define.ts'

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
  corsOrigins: string[]
  elasticsearchUrl: string | null
  elasticsearchUsername: string | null
  elasticsearchPassword: string | null
  elasticsearchApiKey: string | null
  elasticsearchCa: string | null
  elasticsearchRepository: string | null
  prefix: string
  pageSize: number
  pluginsDir: string[]
  logLevel: string
  debug: boolean
}

export const coreSettings: Record<string, SettingDefinition> = {
  host: { env: 'AV_HOST', schema: Type.String({ minLength: 1 }), default: '127.0.0.1', meaning: 'address to listen on' },
}
