/** Limits an access token to part of its user's rights. */
import type { Access } from './access.ts'

/** Each scope includes the earlier ones. */
export const SCOPES = ['read', 'watch', 'download', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const includes = (scope: Scope, other: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(other)

/** The properties of a route that decide the needed scope. */
export interface Scoped {
  method: string
  access: Access
  scope?: Scope | 'none'
}

/** The declared scope, or that of method and access. A GET whose reply contains a secret must declare `admin`. */
export function neededScope({ method, access, scope }: Scoped): Scope | 'none' {
  if (scope !== undefined) return scope
  if (method === 'GET') return 'read'
  if (access === 'admin') return 'admin'
  return access === 'downloader' ? 'download' : 'watch'
}

/** Why a route refuses an access token; undefined: it does not. */
export function scopeRefusal({ scope }: { scope?: Scope }, route: Scoped): string | undefined {
  if (scope === undefined || route.access === 'open') return undefined
  const needed = neededScope(route)
  if (needed === 'none') return 'An access token may not do this: sign in with the password'
  if (includes(scope, needed)) return undefined
  return `This access token has the scope ${scope}; this request needs the scope ${needed}`
}
