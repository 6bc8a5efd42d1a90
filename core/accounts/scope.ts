/** Limits an access token to part of its user's rights. */
import type { Access } from './access.ts'

/** Each includes those before it. */
export const SCOPES = ['read', 'watch', 'download', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const includes = (scope: Scope, other: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(other)

/** What of a route a scope depends on. */
export interface Scoped {
  method: string
  access: Access
  scope?: Scope | 'none'
}

/**
 * What a route asks of an access token: what its route says, else to read for a GET, else what its role is there for. A
 * GET whose reply holds a secret, such as an address with a password, or all of the archive at once says `admin`.
 */
export function neededScope({ method, access, scope }: Scoped): Scope | 'none' {
  if (scope !== undefined) return scope
  if (method === 'GET') return 'read'
  if (access === 'admin') return 'admin'
  return access === 'downloader' ? 'download' : 'watch'
}

/** Why an access token is refused there; undefined: it is not. */
export function scopeRefusal({ scope }: { scope?: Scope }, route: Scoped): string | undefined {
  if (scope === undefined || route.access === 'open') return undefined
  const needed = neededScope(route)
  if (needed === 'none') return 'An access token may not do this: sign in with the password'
  if (includes(scope, needed)) return undefined
  return `This access token has the scope ${scope}; this needs one with the scope ${needed}`
}
