/** The configured network route, client and token for requests to the platform. */
import type { PlatformPreferences } from './preferences.ts'

/** The form that the worker reads. */
export interface Route {
  proxy?: string
  sourceAddress?: string
  ipVersion?: '4' | '6'
  clients?: string[]
  tokenProvider?: string
}

type RoutePreferences = Pick<
  PlatformPreferences,
  'proxy' | 'source_address' | 'ip_version' | 'player_clients' | 'token_provider'
>

export const routeOf = (set: Readonly<RoutePreferences>): Route => ({
  ...(set.proxy && { proxy: set.proxy }),
  ...(set.source_address && { sourceAddress: set.source_address }),
  ...(set.ip_version !== 'any' && { ipVersion: set.ip_version }),
  ...(set.player_clients && { clients: set.player_clients.split(',') }),
  ...(set.token_provider && { tokenProvider: set.token_provider }),
})

export const UNSET_ROUTE: RoutePreferences = {
  proxy: false,
  source_address: false,
  ip_version: 'any',
  player_clients: false,
  token_provider: false,
}
