/**
 * What a test needs beside Node: where it is missing the test says so and is skipped, unless AV_TEST_REQUIRE names it.
 */

/**
 * @param name    as AV_TEST_REQUIRE lists it, such as `elasticsearch`
 * @param reason  why the test cannot run here
 * @returns the reason, for `skip`
 * @throws where it must not be skipped (`.ci/run`)
 */
export function missingHere(name: string, reason: string): string {
  const required = (process.env.AV_TEST_REQUIRE ?? '').split(',').map((one) => one.trim())
  if (required.includes(name)) throw new Error(`${reason}, and AV_TEST_REQUIRE says that ${name} must not be skipped`)
  return reason
}
