/** What a handler receives. It is a class so that a signal is made only for handlers that use it. */
import type { ServerResponse } from 'node:http'
import type { Actor } from '../accounts/authentication.ts'
import { errors } from '../error.ts'
import type { RouteInput } from '../plugin/define.ts'
import type { PageWindow } from './pagination.ts'
import type { HandlerHeaders } from './send.ts'

type AnyInput = RouteInput<never, never, never>

export const serverCloses = () => errors.unavailable('The server is closing')

/** Signals of running requests: all are aborted when the server closes. */
export class RunningSignals {
  readonly #running = new Set<AbortController>()

  /** Ends when the client goes away, or with `abort`. */
  of(response: ServerResponse): AbortSignal {
    const controller = new AbortController()
    const leave = () => {
      this.#running.delete(controller)
      controller.abort(errors.unavailable('The client went away'))
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
  // A handler sees the types of its own route's schemas, against which these were checked.
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
    // Checked against the route's schemas: a handler knows their types, this class does not.
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
