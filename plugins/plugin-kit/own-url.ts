/** The address of this server, for replies that are useless without it. */
import { errors } from '../../core/base/error.ts'
import type { App } from '../../core/plugin/define.ts'

/** @returns `app.publicUrl`, with a final slash @throws bad_request: neither the request nor a setting contains it */
export function ownUrl(request: Parameters<App['publicUrl']>[0], { publicUrl }: Pick<App, 'publicUrl'>): string {
  const url = publicUrl(request)
  if (url === undefined)
    throw errors.badRequest('The address of this server is unknown: send the header Host, or set AV_PUBLIC_URL')
  return url
}
