/**
 * Bounds in seconds, of the MCP conventions of OpenTelemetry, with four before them: most calls take less than their
 * first.
 */
export const OPERATION_BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300
]

/** For sessions, which last up to days. In seconds. */
export const SESSION_BOUNDS = [1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]

/** For answers of people and models. In seconds. */
export const WAIT_BOUNDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600]

/** For the store, whose slowest operations are given up after a second or so. In seconds. */
export const STORE_BOUNDS = [0.00005, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
