/** The schema of a setting, as the server sends it. */

/** JSON Schema, as far as settings need it. */
export interface OptionSchema {
  type?: string
  title?: string
  description?: string
  /** The unit, shown after the field. */
  'x-unit'?: string
  /** The page multiplies the number by this factor. */
  'x-factor'?: number
  /** Shown if the value is rejected. */
  'x-wrong'?: string
  /** A technical value, in a wide monospaced field. */
  'x-code'?: boolean
  /** A code of a language, or several separated by commas: chosen by name. */
  'x-languages'?: 'one' | 'several'
  /** A secret; `whole`: the value is never shown again. */
  'x-secret'?: true | 'whole'
  /** The group of settings that it belongs to. */
  'x-group'?: string
  /** Labels of its values. */
  'x-labels'?: Record<string, string>
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  enum?: unknown[]
  const?: unknown
  anyOf?: OptionSchema[]
  items?: OptionSchema
  /** Of a map: the schema of its entries, which may have any name. */
  patternProperties?: Record<string, OptionSchema>
  additionalProperties?: OptionSchema | boolean
  properties?: Record<string, OptionSchema>
  /** A channel may have its own value. */
  'x-per-channel'?: boolean
  /** The path of a route that tries the setting. */
  'x-try'?: string
}
