/** The input of a handler. A class, so that a signal is created only for handlers that use one. */
import type { ServerResponse } from 'node:http'
import type { Actor } from '../accounts/authentication.ts'
import { errors } from '../error.ts'
import type { RouteInput } from '../plugin/define.ts'
import type { PageWindow } from './pagination.ts'
import type { HandlerHeaders } from './send.ts'

type AnyInput = RouteInput<never, never, never>

export const serverCloses = () => errors.unavailable('The server is closing')

/** The signals of running requests: all are aborted when the server closes. */
export class RunningSignals {
  readonly #running = new Set<AbortController>()

  /** Aborted when the client disconnects, or by `abort`. */
  of(response: ServerResponse): AbortSignal {
    const controller = new AbortController()
    const leave = () => {
      this.#running.delete(controller)
      controller.abort(errors.unavailable('The client has disconnected'))
    }
    if (response.closed || response.destroyed) leave()
    else {
      this.#running.add(controller)
      response.on('close', leave)
    }
    return controller.signal
  }

  abort(): void {
    for (const controller of this.#running) controller.abort(serverCloses())
  }
}

export class Input implements AnyInput {
  readonly params: never
  readonly query: never
  readonly actor: Actor
  readonly request: AnyInput['request']
  readonly headers: HandlerHeaders
  // Checked against the route's schemas: a handler sees their types, this class does not.
  body: never = undefined as never
  page: PageWindow
  readonly #signals: RunningSignals
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(
    checked: { params: object; query: object; actor: Actor; page: PageWindow },
    request: AnyInput['request'],
    headers: HandlerHeaders,
    signals: RunningSignals,
    response: ServerResponse,
  ) {
    this.params = checked.params as never
    this.query = checked.query as never
    this.actor = checked.actor
    this.page = checked.page
    this.request = request
    this.headers = headers
    this.#signals = signals
    this.#response = response
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#signals.of(this.#response))
  }
}
