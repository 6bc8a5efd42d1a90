/** The server's public address, for links in messages that leave it. */
import type { Settings } from '../config/schema.ts'

export function publicUrl(
  { publicUrl: set, basePath }: Pick<Settings, 'publicUrl' | 'basePath'>,
  request?: { host: string; isSecure: boolean },
): string | undefined {
  if (set !== null) return set
  return request?.host ? `http${request.isSecure ? 's' : ''}://${request.host}${basePath}` : undefined
}
